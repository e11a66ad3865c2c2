"""A fixed clock, reminders as clients send them, and a caregiver who hears of what is missed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.caregivers import service as caregivers
from app.core.database import clock as database_clock
from app.core.database.session import db, unit_of_work
from app.core.lib import clock
from app.identity.models import RoleName, User
from app.identity.sessions import Reader
from app.notifications.models import Delivery
from app.pengingat import swift
from app.pengingat.ledger_schemas import NewAnswer
from app.pengingat.models import Occurrence
from tests.helpers.client import Client
from tests.helpers.factories import make_user
from tests.pengingat.links import ADDRESS, payloads

#: A Monday, 08:00 in Jakarta.
NOW = datetime(2026, 3, 2, 1, 0, tzinfo=UTC)


class Time:
    """The service's clock, set by the test."""

    def __init__(self) -> None:
        self.now = NOW

    def move(self, **span: float) -> None:
        self.now += timedelta(**span)


@pytest.fixture
def moment(monkeypatch: pytest.MonkeyPatch) -> Time:
    time = Time()
    monkeypatch.setattr(clock, "now", lambda: time.now)
    monkeypatch.setattr(database_clock, "now", lambda: time.now)
    answer = swift.answer

    def answer_now(by: Reader, pengingat_id: int, data: NewAnswer) -> dict[str, object] | None:
        return answer(by, pengingat_id, data, time.now)

    monkeypatch.setattr(swift, "answer", answer_now)
    return time


@pytest.fixture
def obat() -> dict[str, Any]:
    """07:00 and 19:00 in Jakarta."""
    return {
        "judul": "Obat diabetes",
        "details": {
            "nama_obat": "Metformin",
            "frekuensi": 2,
            "aturan": "sesudah makan",
            "jadwal": [
                {"jam": "00:00", "jumlah": 1, "satuan": "tablet"},
                {"jam": "12:00", "jumlah": 0.5, "satuan": "tablet"},
            ],
        },
    }


@pytest.fixture
def kontrol() -> dict[str, Any]:
    return {
        "tipe": "kontrol",
        "judul": "Kontrol bulanan",
        "waktu": "2026-03-03T03:00:00Z",
        "details": {"nama_dokter": "dr. Ani", "reminder_offsets": [{"offset": "1h"}, {"offset": "1d"}]},
    }


@pytest.fixture
def siti(client: Client) -> Client:
    return client.as_(make_user(nama_ktp="Siti Aminah"))


@pytest.fixture
def public(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is an address for links."""
    monkeypatch.setitem(app.extensions, "config", replace(app.extensions["config"], public_url=ADDRESS))


@pytest.fixture
def token(public: None, siti: Client, moment: Time, obat: dict[str, Any]) -> str:
    """That of the dose of 19:00 in Jakarta (12:00 UTC), which fell due five minutes ago."""
    siti.post("/pengingat/obat", obat)
    moment.move(hours=11, minutes=5)
    text = str(payloads("messaging")[0]["text"])
    (found,) = re.findall(rf"{ADDRESS}/k/([A-Za-z0-9_-]{{22}})\Z", text)
    return str(found)


@pytest.fixture
def siti_id(siti: Client) -> int:
    return db.session.scalars(sa.select(User.id).filter_by(nama_ktp="Siti Aminah")).one()


@pytest.fixture
def budi(app: Flask, siti_id: int) -> int:
    """A caregiver in Jakarta's zone, linked, and allowed to hear of what is missed."""
    return caregiver_of(siti_id)


def caregiver_of(patient_id: int, *scopes: str, domicile: str = "Jawa Barat") -> int:
    """Somebody whom the patient allows this, `alerts` if nothing else is said."""
    with unit_of_work():
        caregiver_id = make_user(RoleName.PENDAMPING, domicile=domicile).id
        caregivers.create(caregiver_id, patient_id)
    allow(patient_id, caregiver_id, *(scopes or ("alerts",)))
    return caregiver_id


def allow(siti_id: int, caregiver: int, *scopes: str) -> None:
    with unit_of_work():
        caregivers.update_scopes(siti_id, caregiver, scopes)


def texts() -> list[str]:
    """What the waiting messages say, in alphabetical order."""
    rows = db.session.scalars(
        sa.select(Delivery.payload["text"].astext).filter_by(channel="messaging", state="pending")
    )
    return sorted(rows)


def waiting(channel: str = "messaging", state: str = "pending") -> list[str]:
    """When the deliveries of a channel are due, as `dd HH:MM` in UTC."""
    rows = db.session.scalars(
        sa.select(Delivery.due_at).filter_by(channel=channel, state=state).order_by(Delivery.due_at)
    )
    return [f"{due.astimezone(UTC):%d %H:%M}" for due in rows]


Waiting = Callable[..., list[str]]


def ledger() -> list[str]:
    """The occurrences of everybody as `dd HH:MM slot state`, in UTC, in order of their dues."""
    rows = db.session.scalars(
        sa.select(Occurrence).order_by(Occurrence.due_at, Occurrence.slot).execution_options(populate_existing=True)
    )
    return [f"{row.due_at.astimezone(UTC):%d %H:%M} {row.slot} {row.state}" for row in rows]


def settle(state: str, *which: sa.ColumnElement[bool]) -> None:
    """Give deliveries the outcome that a worker would have recorded."""
    db.session.execute(sa.update(Delivery).where(*which).values(state=state))


def past(user_id: int, day: int, state: str, *, month: int = 2, **fields: Any) -> None:
    """An occurrence at 12:00 UTC (19:00 in Jakarta) of a day of February 2026, or another month."""
    due_at = datetime(2026, month, day, 12, tzinfo=UTC)
    values = {"tipe": "obat", "judul": "Metformin", "slot": "0", "due_at": due_at, "day": due_at.date()}
    db.session.add(Occurrence(user_id=user_id, state=state, **{**values, **fields}))
    db.session.flush()
