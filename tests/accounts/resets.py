"""Helpers that request password reset links and read their codes."""

from __future__ import annotations

import re

from app.core.database.session import db
from app.notifications.models import Delivery
from tests.helpers.client import Client
from tests.notifications.deliveries import words_of

PHONE = "081234567890"


def messages() -> list[Delivery]:
    return list(db.session.scalars(db.select(Delivery).order_by(Delivery.id)).all())


def code_in(delivery: Delivery) -> str:
    match = re.search(r"/reset-password\?code=([\w-]+)", words_of(delivery)["text"])
    assert match
    return match[1]


def ask(client: Client, phone: str = PHONE) -> str:
    assert client.get("/send-verification-code", query_string={"phone": phone}).status_code == 200
    return code_in(messages()[-1])
