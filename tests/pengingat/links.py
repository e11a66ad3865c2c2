"""Helpers that open the web page of an answer link and press its buttons."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape

import sqlalchemy as sa
from werkzeug.test import TestResponse

from app.core.database.session import db
from app.notifications.models import Delivery
from tests.helpers.client import Client
from tests.notifications.deliveries import words_of

ADDRESS = "https://sehat.example.org"


def payloads(channel: str) -> Sequence[dict[str, object]]:
    """Return the contents of all messages of a channel, including sent messages."""
    rows = db.session.scalars(sa.select(Delivery).filter_by(channel=channel).order_by(Delivery.due_at))
    return [words_of(row) for row in rows]


def page(client: Client, token: str) -> TestResponse:
    return client.get(f"/k/{token}")


def tap(client: Client, token: str, status: str) -> TestResponse:
    return client.post(f"/k/{token}", data={"status": status})


def said(client: Client, token: str) -> tuple[str, list[str]]:
    """Return the lines of the status text on the page of an answer link, and the values of the page's buttons."""
    text = page(client, token).text
    (words,) = re.findall(r'class="said" role="status">(.*)</p>', text)
    return unescape(words.replace("<br>", "\n")), re.findall(r'value="(\w+)"', text)
