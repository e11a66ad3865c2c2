"""Helpers for missed doses and the alerts to caregivers."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from app.core.database.session import db
from app.notifications.delivery import sealing
from app.notifications.models import Delivery
from app.pengingat import jobs
from tests.helpers.client import Client
from tests.notifications.deliveries import words_of
from tests.pengingat.ledgers import Time, settle

MISSED = "Siti belum menandai obat pukul 19.00 WIB. Boleh tolong ditanyakan?"


def make(siti: Client, obat: dict[str, Any], *times: str, **details: Any) -> str:
    """Create a medicine with doses at these times of day in UTC. Return its path."""
    jadwal = [{"jam": jam, "jumlah": 1, "satuan": "tablet"} for jam in times or ("12:00",)]
    sent = {**obat["details"], "frekuensi": len(jadwal), "jadwal": jadwal, **details}
    answer = siti.post("/pengingat/obat", {**obat, "details": sent})
    assert answer.status_code == 201, answer.json
    return f"/pengingat/{answer.json['id']}"


def tick(moment: Time, jam: str | None = None, day: int = 2, *, sent: bool = True) -> None:
    """Mark due reminders as sent or failed. Then run the scheduler's jobs at this time of day in UTC."""
    if jam is not None:
        hour, minute = map(int, jam.split(":"))
        moment.now = moment.now.replace(day=day, hour=hour, minute=minute)
    jobs.top_up()
    settle("sent" if sent else "failed", Delivery.kind == "reminder", Delivery.due_at <= moment.now)
    jobs.miss_overdue()
    tell()


def tell() -> None:
    """Put due alerts into the outbox. Store in each alert the text with which the alert would be sent.

    From then on the alert counts as sent with an unknown outcome.
    """
    jobs.send_caregiver_alerts()
    waiting = sa.select(Delivery).where(
        Delivery.kind == "alert", Delivery.state == "pending", Delivery.sealed.is_(None)
    )
    for row in db.session.scalars(waiting).all():
        row.sealed, row.unconfirmed_calls = sealing.seal(words_of(row), row.user_id), 1
    db.session.commit()


def told(channel: str = "messaging", caregiver: int | None = None) -> list[str]:
    """Return the texts of the alerts in the outbox, oldest first."""
    key = "text" if channel == "messaging" else "body"
    rows = sa.select(Delivery).filter_by(kind="alert", channel=channel, state="pending")
    if caregiver is not None:
        rows = rows.where(Delivery.user_id == caregiver)
    return [words_of(row)[key] for row in db.session.scalars(rows.order_by(Delivery.id)).all()]


def done(siti: Client, path: str, due_at: str = "2026-03-02T12:00:00Z") -> None:
    answer = siti.post(f"{path}/konfirmasi", {"status": "done", "due_at": due_at})
    assert answer.status_code == 200, answer.json
    tell()
