"""The ledger: one row for each due time of a reminder, and the state of an unanswered row."""

from datetime import date, timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.notifications.models import Channel, Delivery
from app.pengingat import jobs
from app.pengingat.ledger import missed
from app.pengingat.models import Occurrence
from tests.pengingat.ledgers import ledger, past, settle, waiting

COMING = ["02 12:00 1", "03 00:00 0", "03 12:00 1"]


def states(state, *dues):
    return [f"{due} {state}" for due in dues]


def test_each_due_time_of_the_next_36_hours_has_one_ledger_row(siti, moment, obat):
    created = siti.post("/pengingat/obat", obat).json
    assert ledger() == states("pending", *COMING)
    row = db.session.scalars(sa.select(Occurrence).order_by(Occurrence.due_at)).first()
    assert row is not None
    assert (row.reminder_id, row.tipe, row.judul, row.day) == (created["id"], "obat", "Obat diabetes", date(2026, 3, 2))
    told = db.session.scalars(sa.select(Delivery.channel).filter_by(due_at=row.due_at)).all()
    assert sorted(told) == ["messaging", "push_fan_out"]


def test_top_up_plans_the_same_due_times_in_the_ledger_and_the_outbox(siti, moment, obat):
    siti.post("/pengingat/obat", obat)
    for _ in range(20):
        moment.move(hours=5)
        jobs.top_up()
        jobs.top_up()
    assert [line.rsplit(" ", 2)[0] for line in ledger()] == waiting()


def test_the_day_of_an_occurrence_is_in_the_time_zone_of_the_reminder(siti, moment, obat):
    siti.post("/pengingat/obat", {**obat, "timezone": "Pacific/Kiritimati"})  # the offset of this zone is UTC+14
    days = db.session.scalars(sa.select(Occurrence.day).order_by(Occurrence.due_at)).all()
    assert days == [date(2026, 3, day) for day in (3, 3, 4, 4, 5)]


def test_an_occurrence_without_an_answer_is_missed_after_one_hour(siti, moment, obat):
    siti.post("/pengingat/obat", obat)
    moment.move(hours=11, minutes=59)
    jobs.miss_overdue()
    assert ledger()[:3] == states("pending", *COMING)
    moment.move(minutes=1)
    jobs.miss_overdue()
    assert ledger()[:3] == [*states("missed", COMING[0]), *states("pending", *COMING[1:])]


@pytest.mark.parametrize(
    ("channel", "state", "is_undelivered"),
    [
        (Channel.MESSAGING, "sent", False),
        (Channel.PUSH, "sent", False),
        (Channel.PUSH_FAN_OUT, "sent", True),  # undelivered, because the person has no browser
        (Channel.MESSAGING, "failed", True),
        (Channel.MESSAGING, "missed", True),
    ],
)
def test_a_missed_occurrence_that_no_channel_delivered_is_undelivered(
    siti, moment, obat, channel, state, is_undelivered
):
    siti.post("/pengingat/obat", obat)
    settle("failed", Delivery.due_at <= moment.now + timedelta(hours=11))
    if channel == Channel.PUSH:
        db.session.execute(sa.update(Delivery).filter_by(channel="push_fan_out").values(channel="push"))
    settle(state, Delivery.channel == channel, Delivery.due_at <= moment.now + timedelta(hours=11))
    moment.move(hours=12)
    jobs.miss_overdue()
    row = db.session.scalars(sa.select(Occurrence).filter_by(state="missed")).one()
    assert row.undelivered is is_undelivered


def test_an_occurrence_reopened_too_late_to_send_is_not_undelivered(siti, moment, obat):
    path = f"/pengingat/{siti.post('/pengingat/obat', obat).json['id']}"
    moment.move(hours=10, minutes=50)
    siti.put(path, {"is_done": True})
    moment.move(hours=1, minutes=40)
    siti.put(path, {"is_done": False})
    jobs.miss_overdue()
    row = db.session.scalars(sa.select(Occurrence).filter_by(state="missed")).one()
    assert row.undelivered is False


@pytest.mark.parametrize(
    ("receipt", "is_undelivered"),
    [(None, False), ("accepted", False), ("sent", False), ("failed", True), ("delivered", False), ("read", False)],
)
def test_only_a_failed_receipt_makes_a_missed_occurrence_undelivered(siti, moment, obat, receipt, is_undelivered):
    siti.post("/pengingat/obat", obat)
    due = Delivery.due_at <= moment.now + timedelta(hours=11)
    settle("failed", due)
    settle("sent", due, Delivery.channel == "messaging")
    db.session.execute(sa.update(Delivery).where(due, Delivery.channel == "messaging").values(receipt=receipt))
    moment.move(hours=12)
    jobs.miss_overdue()
    row = db.session.scalars(sa.select(Occurrence).filter_by(state="missed")).one()
    assert row.undelivered is is_undelivered


def test_later_receipts_decide_whether_a_missed_occurrence_is_undelivered(siti, moment, obat):
    siti.post("/pengingat/obat", obat)
    due = Delivery.due_at <= moment.now + timedelta(hours=11)
    settle("failed", due)
    settle("sent", due, Delivery.channel == "messaging")
    moment.move(hours=12)
    jobs.miss_overdue()
    message = db.session.scalars(sa.select(Delivery).where(due, Delivery.channel == "messaging")).one()
    for receipt, is_undelivered in (("failed", True), ("delivered", False)):
        message.receipt = receipt
        db.session.flush()
        missed.follow_receipts([message.id])
        row = db.session.scalars(sa.select(Occurrence).filter_by(state="missed")).one()
        db.session.refresh(row)
        assert row.undelivered is is_undelivered


def test_an_occurrence_with_a_claimed_delivery_is_not_yet_missed(siti, moment, obat):
    siti.post("/pengingat/obat", obat)
    moment.move(hours=12)
    db.session.execute(
        sa.update(Delivery)
        .where(Delivery.channel == "messaging", Delivery.due_at < moment.now)
        .values(state="claimed", next_try_at=moment.now + timedelta(seconds=20))
    )
    jobs.miss_overdue()
    assert ledger()[0] == "02 12:00 1 pending"
    settle("sent", Delivery.channel == "messaging", Delivery.due_at < moment.now)
    jobs.miss_overdue()
    row = db.session.scalars(sa.select(Occurrence).filter_by(state="missed")).one()
    assert row.undelivered is False


def test_a_new_schedule_voids_pending_occurrences_of_the_old_schedule(siti, moment, obat):
    created = siti.post("/pengingat/obat", obat).json
    details = {**obat["details"], "frekuensi": 1, "jadwal": [{"jam": "05:00", "jumlah": 2, "satuan": "tablet"}]}
    siti.put(f"/pengingat/{created['id']}", {"details": details})
    assert ledger() == sorted([*states("void", *COMING), *states("pending", "02 05:00 0", "03 05:00 0")])
    siti.put(f"/pengingat/{created['id']}", {"details": obat["details"]})
    assert ledger() == sorted([*states("pending", *COMING), *states("void", "02 05:00 0", "03 05:00 0")])


def test_a_new_title_changes_only_future_occurrences(siti, moment, obat):
    created = siti.post("/pengingat/obat", obat).json
    moment.move(hours=11, minutes=5)
    siti.put(f"/pengingat/{created['id']}", {"judul": "Gula darah"})
    assert ledger()[:3] == states("pending", *COMING)
    titles = db.session.scalars(sa.select(Occurrence.judul).order_by(Occurrence.due_at)).all()
    assert titles == ["Obat diabetes", *["Gula darah"] * 4]


def test_deleting_a_reminder_keeps_its_past_occurrences_in_the_ledger(siti, moment, obat):
    created = siti.post("/pengingat/obat", obat).json
    moment.move(hours=12)
    jobs.miss_overdue()
    siti.delete(f"/pengingat/{created['id']}")
    assert ledger()[:3] == [*states("missed", COMING[0]), *states("void", *COMING[1:])]
    assert db.session.scalars(sa.select(Occurrence.reminder_id).distinct()).all() == [None]


# --- `is_done` and the ledger ---------------------------------------------------------------------------------------


def test_is_done_answers_the_current_occurrence_and_false_reopens_it(siti, moment, obat):
    created = siti.post("/pengingat/obat", obat).json
    moment.move(hours=11, minutes=5)
    siti.put(f"/pengingat/{created['id']}", {"is_done": True})
    assert ledger()[:2] == ["02 12:00 1 done", "03 00:00 0 pending"]
    row = db.session.scalars(sa.select(Occurrence).filter_by(state="done")).one()
    assert (row.answered_at, row.answered_via) == (moment.now, "app")
    siti.put(f"/pengingat/{created['id']}", {"is_done": False})
    assert ledger()[0] == "02 12:00 1 pending"


def test_is_done_days_before_a_weekly_session_marks_the_next_session_done(siti, moment):
    sent = {"tipe": "terapi", "judul": "T", "waktu": "2026-03-02T00:00:00Z"}
    details = {"jadwal": [{"hari": "minggu", "jam": "02:00"}]}
    created = siti.post("/pengingat/", {**sent, "details": details}).json
    assert ledger() == []
    siti.put(f"/pengingat/{created['id']}", {"is_done": True})
    assert ledger(timedelta(days=7)) == ["08 02:00 0 done"]
    for _ in range(14):
        moment.move(hours=12)
        jobs.top_up()
        jobs.miss_overdue()
    assert ledger() == ["08 02:00 0 done"]
    assert waiting() == []


def test_is_done_on_an_appointment_closes_all_its_occurrences(siti, moment, kontrol):
    created = siti.post("/pengingat/", kontrol).json
    moment.move(hours=2, minutes=5)  # the notice that is due one day before the appointment was sent
    siti.put(f"/pengingat/{created['id']}", {"is_done": True})
    assert ledger() == ["02 03:00 1d done", "03 02:00 1h void"]
    siti.put(f"/pengingat/{created['id']}", {"is_done": False})
    assert ledger() == ["02 03:00 1d pending", "03 02:00 1h pending"]
    assert waiting()[-1] == "03 02:00"


# --- retention ------------------------------------------------------------------------------------------------------


def test_occurrences_are_deleted_after_400_days(siti_id, moment, monkeypatch):
    monkeypatch.setattr(jobs, "DELETE_BATCH", 2)
    for n, days in enumerate((399, 401, 402, 800)):
        past(siti_id, 1, "done", slot=f"{n}", due_at=moment.now - timedelta(days=days))
    jobs.delete_old()
    assert [row.split()[2] for row in ledger()] == ["0"]
