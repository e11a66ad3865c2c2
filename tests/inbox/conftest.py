"""The service with webhooks that are live, and the providers' own hands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db, unit_of_work
from app.identity.models import User
from app.inbox import conversation, jobs
from app.notifications.models import Delivery, Heard, Inbound
from tests.helpers.client import Client
from tests.helpers.factories import make_user

APP_SECRET = "app-secret-of-the-tests"
VERIFY_TOKEN = "verify-token-of-the-tests"
FONNTE_TOKEN = "fonnte-token-of-the-tests-0123456789"

_numbers = count(1)


@pytest.fixture
def live(real_app: Flask, monkeypatch: pytest.MonkeyPatch) -> Flask:
    """The application, to whose webhooks both providers have the keys."""
    changed = replace(
        real_app.extensions["config"],
        whatsapp_app_secret=APP_SECRET,
        whatsapp_verify_token=VERIFY_TOKEN,
        fonnte_webhook_token=FONNTE_TOKEN,
        messaging_number="+6281100000000",
    )
    monkeypatch.setitem(real_app.extensions, "config", changed)
    return real_app


@pytest.fixture
def provider(live: Flask, client: Client) -> Client:
    return client


def rows() -> list[Inbound]:
    """All that came in."""
    db.session.expire_all()
    return list(db.session.scalars(sa.select(Inbound).order_by(Inbound.id)))


@dataclass(frozen=True)
class Said:
    """What was made of a message, and what was written back."""

    outcome: str | None
    text: str | None


class Phone:
    """Somebody's phone, with which they write to us."""

    def __init__(self, number: str) -> None:
        self.number = number

    def write(self, text: str, **payload: str) -> Said:
        """Write, and see what comes back."""
        row_id = self.send(text, **payload)
        jobs.handle()
        db.session.expire_all()
        row = db.session.get_one(Inbound, row_id)
        key = f"{conversation.KIND}:{row_id}"
        answers = db.session.scalars(sa.select(Delivery).filter_by(dedupe_key=key)).all()
        assert all((answer.target, answer.user_id) == (self.number, None) for answer in answers)
        return Said(row.outcome, next((str(answer.payload["text"]) for answer in answers), None))

    def send(self, text: str, **payload: str) -> int:
        """Write; nobody has looked yet. Returns the id of the row."""
        values = {"provider": "test", "event_key": f"phone:{next(_numbers)}", "kind": Heard.MESSAGE}
        with unit_of_work():
            row = Inbound(phone=self.number, text=text, payload={"type": "text", **payload}, **values)
            db.session.add(row)
            db.session.flush()
            return row.id


@pytest.fixture
def siti(app: Flask) -> User:
    return make_user(nama_ktp="Siti Aminah", nomor_hp="081234567890")


@pytest.fixture
def phone(siti: User) -> Phone:
    """Siti's."""
    db.session.commit()
    return Phone("+6281234567890")
