"""Helpers that request password reset links and read their codes."""

import re

from app.core.database.session import db
from app.notifications.models import Delivery
from tests.notifications.deliveries import words_of

PHONE = "081234567890"


def messages():
    return db.session.scalars(db.select(Delivery).filter_by(kind="password_reset").order_by(Delivery.id)).all()


def code_in(delivery):
    """Return the code of the link that the delivery contains or would contain now, or None if there is no link."""
    match = re.search(r"/reset-password\?code=([\w-]+)", words_of(delivery).get("text", ""))
    return match and match[1]


def ask(client, phone=PHONE):
    """Request a link, and return its code."""
    assert client.get("/send-verification-code", query_string={"phone": phone}).status_code == 200
    code = code_in(messages()[-1])
    assert code is not None
    return code
