"""Tests of today's numbers of reminders."""

from datetime import timedelta

import pytest

from app.core.database.session import db
from app.core.lib.local_time import JAKARTA, midnight, today
from app.notifications.models import Delivery
from app.pengingat.models import Occurrence
from tests.helpers.factories import make_user


@pytest.fixture(autouse=True)
def _noon(monkeypatch):
    """Set the time to noon in Jakarta, so that doses can be due earlier today."""
    noon = midnight(today()) + timedelta(hours=12)
    monkeypatch.setattr("app.core.lib.local_time.now", lambda: noon)


def due(user_id, at, state, *channels, **fields):
    """Create a due dose. Add a delivery for each (state, receipt) pair in `channels`."""
    values = {"tipe": "obat", "judul": "Metformin", "slot": "0", "day": at.astimezone(JAKARTA).date()}
    row = Occurrence(user_id=user_id, due_at=at, state=state, **{**values, **fields})
    db.session.add(row)
    db.session.flush()
    for n, (delivery_state, receipt) in enumerate(channels):
        db.session.add(
            Delivery(kind="reminder", channel="messaging", queue="urgent", dedupe_key=f"{row.id}:{n}", due_at=at,
                     next_try_at=at, expires_at=at, user_id=user_id, said=[row.id], state=delivery_state,
                     receipt=receipt)
        )  # fmt: skip


def test_today_counts_each_reminder_once_by_its_result(admin):
    person, morning = make_user().id, midnight(today()) + timedelta(hours=7)
    due(person, morning, "done", ("sent", None), ("sent", "read"))
    due(person, morning, "missed", ("sent", "failed"), ("sent", None), slot="1")
    due(person, morning, "missed", ("sent", "failed"), slot="2", undelivered=True)
    due(person, morning, "missed", ("missed", None), ("failed", None), slot="3", undelivered=True)
    due(person, morning, "pending", ("failed", None), ("pending", None), slot="4")
    due(person, morning, "pending", ("cancelled", None), slot="5")
    due(person, morning, "void", ("sent", None), slot="6")
    due(person, morning, "done", slot="7")
    due(person, midnight(today()) - timedelta(minutes=1), "done", ("sent", None))
    due(person, morning + timedelta(hours=8), "pending", ("pending", None))
    assert admin.get("/admins/overview/hari-ini").json == {
        "date": today().isoformat(),
        "sent": 2,
        "waiting": 1,
        "failed": 2,
        "done": 2,
        "patients": 1,
        "unverified": 2,
    }
