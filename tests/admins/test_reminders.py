"""Tests of today's numbers of reminders, and of the list of people who missed doses on several days."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from app.core.database.session import db
from app.core.lib.local_time import JAKARTA, midnight, now, today
from app.notifications.models import Delivery
from app.pengingat.models import Occurrence
from tests.helpers.client import Client
from tests.helpers.factories import make_user


@pytest.fixture(autouse=True)
def _noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the time to noon in Jakarta, so that doses can be due earlier today."""
    noon = midnight(today()) + timedelta(hours=12)
    monkeypatch.setattr("app.core.lib.local_time.now", lambda: noon)


def due(user_id: int, at: datetime, state: str, *channels: tuple[str, str | None], **fields: Any) -> None:
    """Create a due dose. Add a delivery for each (state, receipt) pair in `channels`."""
    values = {"tipe": "obat", "judul": "Metformin", "slot": "0", "day": at.astimezone(JAKARTA).date()}
    row = Occurrence(user_id=user_id, due_at=at, state=state, **{**values, **fields})
    db.session.add(row)
    db.session.flush()
    for n, (delivery_state, receipt) in enumerate(channels):
        db.session.add(
            Delivery(kind="reminder", channel="messaging", queue="urgent", dedupe_key=f"{row.id}:{n}", due_at=at,
                     next_try_at=at, expires_at=at, user_id=user_id, occurrence_id=row.id, state=delivery_state,
                     receipt=receipt)
        )  # fmt: skip


def missed(user_id: int, *days_ago: int, **fields: Any) -> None:
    for days in days_ago:
        due(user_id, midnight(today()) - timedelta(days=days, hours=-7), **{"state": "missed", **fields})


def usernames(admin: Client, days: int) -> list[str]:
    return sorted(row["username"] for row in admin.get(f"/admins/users?missed_days={days}").json)


def test_today_counts_each_reminder_once_by_its_result(admin: Client) -> None:
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
        "missed_days": 3,
        "missed_people": 0,
        "patients": 1,
        "unverified": 2,
    }


def test_people_who_missed_a_dose_on_each_of_the_last_days_are_listed(admin: Client) -> None:
    for name, days in {"siti": (1, 2, 3), "budi": (1, 3), "ani": (2, 3, 4), "tono": (0, 1, 2)}.items():
        missed(make_user(username=name).id, *days)
    assert usernames(admin, 1) == ["budi", "siti", "tono"]
    assert usernames(admin, 2) == ["siti", "tono"]
    assert usernames(admin, 3) == ["siti"]
    assert usernames(admin, 4) == []
    assert admin.get("/admins/overview/hari-ini").json["missed_people"] == 1


def test_two_missed_doses_of_one_day_count_as_one_day(admin: Client) -> None:
    person = make_user(username="siti").id
    missed(person, 1, 2)
    missed(person, 1, slot="1")
    assert usernames(admin, 3) == []


def test_only_missed_medicine_doses_of_active_people_are_counted(admin: Client, client: Client) -> None:
    missed(make_user(username="makan").id, 1, 2, 3, tipe="makan")
    missed(make_user(username="kami").id, 1, 2, 3, undelivered=True)
    missed(make_user(username="dilewati").id, 1, 2, 3, state="skipped")
    leaving, withdrawn = make_user(username="pergi"), make_user(username="menarik")
    missed(leaving.id, 1, 2, 3)
    missed(withdrawn.id, 1, 2, 3)
    leaving.erasure_due_at = now() + timedelta(days=7)
    assert client.as_(withdrawn).put("/profile/persetujuan", {"health_data": False}).status_code == 200
    assert usernames(admin, 3) == []
    assert admin.get("/admins/overview/hari-ini").json["missed_people"] == 0
