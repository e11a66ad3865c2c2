"""Helpers that open the web page of an answer link and press its buttons."""

import re
from html import unescape

import sqlalchemy as sa

from app.core.database.session import db
from app.notifications.models import Delivery
from tests.notifications.deliveries import words_of

ADDRESS = "https://sehat.example.org"


def payloads(channel):
    """Return what all bells of a channel say now. Record that they have said it, as a worker does."""
    query = sa.select(Delivery).filter_by(channel=channel).order_by(Delivery.due_at)
    return [say(row) for row in db.session.scalars(query).all()]


def say(row):
    """Return what a bell says now, and record it. A fan-out gets a push to one browser for this."""
    words = words_of(row)
    if row.channel == "push_fan_out":
        key = f"{row.dedupe_key}:1"
        same = {name: getattr(row, name) for name in ("queue", "kind", "user_id", "payload", "due_at", "expires_at")}
        push = db.session.scalars(sa.select(Delivery).filter_by(dedupe_key=key)).one_or_none()
        row = push or Delivery(dedupe_key=key, channel="push", next_try_at=row.due_at, **same)
        db.session.add(row)
    row.said, row.link_hash = words.get("said"), words.get("link_hash")
    db.session.flush()
    return words


def page(client, token):
    return client.get(f"/k/{token}")


def tap(client, token, status):
    return client.post(f"/k/{token}", data={"status": status})


def said(client, token):
    """Return the lines of the status text on the page of an answer link, and the values of the page's buttons."""
    text = page(client, token).text
    (words,) = re.findall(r'class="said" role="status">(.*)</p>', text)
    return unescape(words.replace("<br>", "\n")), re.findall(r'value="(\w+)"', text)
