"""A number and its proof: by a message that comes from it, or by six digits that went to it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from flask import current_app

from app.accounts import verification
from app.accounts.verification import Proof
from app.core.database.session import db, unit_of_work
from app.identity.models import PhoneVerification
from app.notifications.models import Delivery
from tests.helpers.client import Client
from tests.notifications.deliveries import words_of

PATH = "/profile/phone/verification"
OWN, NEW = "081234567890", "081399990000"
E164 = {OWN: "+6281234567890", NEW: "+6281399990000"}


def ask(client: Client, **data: str) -> dict[str, Any]:
    response = client.post(PATH, {"method": "message", **data})
    assert response.status_code == 201, response.text
    asked: dict[str, Any] = response.json
    assert set(asked) == {"code", "link", "expires_at"}
    return asked


def write(code: str, phone: str = OWN) -> Proof:
    """Somebody writes the word from a number."""
    db.session.commit()
    with current_app.app_context(), unit_of_work():  # in a session of its own, as a request of the client's
        proof = verification.confirm_by_message(E164[phone], code)
    db.session.expire_all()
    return proof


def messages(kind: str) -> list[Delivery]:
    return list(db.session.scalars(sa.select(Delivery).filter_by(kind=kind).order_by(Delivery.id)))


def digits(client: Client, **data: str) -> str:
    """Ask for six digits; returns those that the message holds."""
    asked = ask(client, method="code", **data)
    assert (asked["code"], asked["link"]) == (None, None)
    (code,) = re.findall(r"\b\d{6}\b", str(words_of(messages("phone_code")[-1])["text"]))
    return str(code)


def expire() -> None:
    db.session.execute(sa.update(PhoneVerification).values(expires_at=sa.func.now() - timedelta(seconds=1)))
