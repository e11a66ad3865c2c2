"""Helpers for missed doses and the alerts to caregivers."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from app.core.database.session import db
from app.identity import notification_settings
from app.notifications.delivery import delivery_preferences, rendering, sealing
from app.notifications.delivery.claims import Claimed, PostponedError, UnwantedError
from app.notifications.models import Channel, Delivery
from app.pengingat import jobs
from app.pengingat.caregiving import alerts
from tests.helpers.client import Client
from tests.pengingat.ledgers import Time, settle

MISSED = "Siti Aminah belum menandai obat pukul 19.00 WIB. Boleh tolong ditanyakan?"


def make(siti: Client, obat: dict[str, Any], *times: str, **details: Any) -> str:
    """Create a medicine with doses at these times of day in UTC. Return its path."""
    jadwal = [{"jam": jam, "jumlah": 1, "satuan": "tablet"} for jam in times or ("12:00",)]
    sent = {**obat["details"], "frekuensi": len(jadwal), "jadwal": jadwal, **details}
    answer = siti.post("/pengingat/obat", {**obat, "details": sent})
    assert answer.status_code == 201, answer.json
    return f"/pengingat/{answer.json['id']}"


def tick(moment: Time, jam: str | None = None, day: int = 2, *, sent: bool = True) -> None:
    """Mark due reminders as sent or failed at this time in UTC. Then run the scheduler's jobs, and send alerts."""
    if jam is not None:
        hour, minute = map(int, jam.split(":"))
        moment.now = moment.now.replace(day=day, hour=hour, minute=minute)
    jobs.top_up()
    settle("sent" if sent else "failed", Delivery.kind == "reminder", Delivery.due_at <= moment.now)
    jobs.miss_overdue()
    leave(moment)


def leave(moment: Time) -> None:
    """Send the alerts that are due, as a worker does. The sent text stays in `sealed`, as in development."""
    due = sa.select(Delivery).where(
        Delivery.kind == "alert", Delivery.state == "pending", Delivery.due_at <= moment.now
    )
    for row in db.session.scalars(due.order_by(Delivery.id)).all():
        claimed = Claimed(**{name: getattr(row, name) for name in Claimed.__dataclass_fields__})
        claimed.preferences = notification_settings.delivery_preferences(row.user_id or 0)
        try:
            delivery_preferences.check(claimed, Channel(row.channel))
            rendering.render(claimed, {"alert": alerts.render})
            alerts.check_night(claimed)
        except PostponedError as postponed:
            row.expires_at = max(row.expires_at, postponed.until + delivery_preferences.TIME_LEFT)
        except UnwantedError:
            row.state = "cancelled"
        else:
            row.state = "sent" if row.expires_at > moment.now else "missed"
            row.settled_at, row.sealed = moment.now, sealing.seal(claimed.words, row.user_id)
            row.said = claimed.words["said"]  # type: ignore[assignment]  # a list of ids
    db.session.commit()


def told(channel: str = "messaging", caregiver: int | None = None) -> list[str]:
    """Return the texts of the alerts that left, oldest first."""
    rows = sa.select(Delivery).filter_by(kind="alert", channel=channel, state="sent")
    if caregiver is not None:
        rows = rows.where(Delivery.user_id == caregiver)
    found = db.session.scalars(rows.order_by(Delivery.settled_at, Delivery.id)).all()
    return [
        str(sealing.unseal(row.sealed or "", row.user_id)["text" if channel == "messaging" else "body"])
        for row in found
    ]


def done(siti: Client, path: str, moment: Time, due_at: str = "2026-03-02T12:00:00Z", **answer: Any) -> None:
    given = siti.post(f"{path}/konfirmasi", {"status": "done", "due_at": due_at, **answer})
    assert given.status_code == 200, given.json
    leave(moment)
