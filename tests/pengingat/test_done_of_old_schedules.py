"""`is_done` of reminders with answers to occurrences of an earlier schedule."""

from __future__ import annotations

from datetime import datetime
from typing import Any, cast

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db, unit_of_work
from app.notifications.models import Delivery
from app.pengingat import jobs, service, withdrawal
from app.pengingat.ledger import answers
from app.pengingat.ledger.schemas import NewAnswer
from app.pengingat.models import Occurrence, Pengingat
from tests.helpers.factories import make_user
from tests.pengingat.ledgers import Time

MEDICINE: dict[str, Any] = {
    "nama_obat": "Metformin",
    "frekuensi": 3,
    "aturan": "sesudah makan",
    "jadwal": [{"jam": jam, "jumlah": 1, "satuan": "tablet"} for jam in ("00:00", "00:50", "12:00")],
}


def make(user_id: int, tipe: str, **details: Any) -> int:
    with unit_of_work():
        data: Any = {"tipe": tipe, "judul": "Judul", "timezone": "Asia/Jakarta", "details": details}
        return service.create(user_id, data).id


def say(user_id: int, reminder_id: int, status: str, **named: Any) -> str:
    """Answer in the application. Return the `state` and `slot` of the occurrence."""
    with unit_of_work():
        row = answers.confirm(user_id, reminder_id, NewAnswer(status, **named))
        return f"{row.state} {row.slot}"


@pytest.mark.parametrize("is_corrected", [False, True])
def test_a_skipped_row_of_an_old_schedule_does_not_extend_done_until(
    app: Flask, moment: Time, is_corrected: bool
) -> None:
    """After an edit of the schedule, a skipped occurrence of the old schedule must not extend `done_until`."""
    sunday = moment.now.replace(day=8, hour=3)
    user_id = make_user().id
    reminder_id = make(user_id, "terapi", jadwal=[{"hari": "minggu", "jam": "03:00"}])
    update(user_id, reminder_id, is_done=True)
    if not is_corrected:
        skip_ahead(reminder_id, sunday, moment.now)
    moment.move(minutes=5)
    update(user_id, reminder_id, details={"jadwal": [{"hari": day, "jam": "03:00"} for day in ("senin", "kamis")]})
    if is_corrected:
        skip_ahead(reminder_id, sunday, moment.now)
    moment.move(hours=2)
    assert say(user_id, reminder_id, "done") == "done 0"
    thursday = moment.now.replace(day=5, hour=3, minute=0)
    assert db.session.get_one(Pengingat, reminder_id).done_until == thursday


def test_a_dose_of_an_old_schedule_corrected_to_skipped_sets_no_done_until(app: Flask, moment: Time) -> None:
    user_id = make_user().id
    moment.move(minutes=30)
    monday = moment.now.replace(hour=2, minute=0)
    reminder_id = make(user_id, "terapi", jadwal=[{"hari": "senin", "jam": "02:00"}])
    assert say(user_id, reminder_id, "done") == "done 0"
    moment.move(minutes=10)
    update(user_id, reminder_id, details={"jadwal": [{"hari": "selasa", "jam": "03:00"}]})
    moment.move(minutes=5)
    assert say(user_id, reminder_id, "skipped", due_at=monday) == "skipped 0"
    moment.move(minutes=20)
    assert say(user_id, reminder_id, "done") == "done 0"
    assert db.session.get_one(Pengingat, reminder_id).done_until is None


def test_done_until_ends_at_the_next_dose_after_the_consent_is_renewed(app: Flask, moment: Time) -> None:
    user_id = make_user().id
    moment.now = moment.now.replace(hour=0, minute=0)
    reminder_id = make(user_id, "obat", **MEDICINE)
    moment.move(hours=24, minutes=5)
    jobs.top_up()
    db.session.commit()
    midnight = moment.now.replace(hour=0, minute=0)
    assert say(user_id, reminder_id, "skipped", due_at=midnight) == "skipped 0"
    skip_ahead(reminder_id, midnight.replace(hour=12), moment.now)
    with unit_of_work():
        withdrawal.stop(user_id)
    moment.move(minutes=5)
    assert say(user_id, reminder_id, "done", due_at=midnight) == "done 0"
    with unit_of_work():
        withdrawal.resume(user_id)
    assert db.session.get_one(Pengingat, reminder_id).done_until == midnight.replace(minute=50)


def update(user_id: int, reminder_id: int, **changes: Any) -> None:
    with unit_of_work():
        service.update(user_id, reminder_id, cast(Any, changes))


def skip_ahead(reminder_id: int, due_at: datetime, now: datetime) -> None:
    """Skip an occurrence far in advance. Old versions of the service allowed this."""
    with unit_of_work():
        skipped = sa.update(Occurrence).where(Occurrence.reminder_id == reminder_id, Occurrence.due_at == due_at)
        db.session.execute(skipped.values(state="skipped", answered_at=now, answered_via="app"))
        db.session.execute(
            sa.update(Delivery)
            .where(Delivery.about_id == reminder_id, Delivery.due_at == due_at)
            .values(state="cancelled")
        )
