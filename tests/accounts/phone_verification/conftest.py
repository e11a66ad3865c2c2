"""Siti, who proves her number: by a message that comes from it, or by six digits that went to it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask, current_app

from app.accounts import verification
from app.accounts.verification import Proof
from app.core.database.session import db, unit_of_work
from app.identity import sessions, users
from app.identity.models import PhoneVerification, User
from app.notifications.models import Delivery
from tests.helpers.client import Client
from tests.helpers.factories import make_user

PATH = "/profile/phone/verification"
OWN, NEW = "081234567890", "081399990000"
E164 = {OWN: "+6281234567890", NEW: "+6281399990000"}


@pytest.fixture
def siti(client: Client) -> User:
    return make_user(username="siti", nomor_hp=OWN)


@pytest.fixture
def as_siti(client: Client, siti: User) -> Client:
    return client.as_(siti)


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
    (code,) = re.findall(r"\b\d{6}\b", str(messages("phone_code")[-1].payload["text"]))
    return str(code)


def expire() -> None:
    db.session.execute(sa.update(PhoneVerification).values(expires_at=sa.func.now() - timedelta(seconds=1)))


@pytest.fixture
def really(committed: Flask) -> Client:
    """Siti with real commits: a refusal rolls back the request, and the try counts nevertheless."""
    with unit_of_work():
        user_id = make_user(username="siti", nomor_hp=OWN).id
    with unit_of_work():
        return Client(committed, sessions.begin(users.get(user_id)).access_token)
