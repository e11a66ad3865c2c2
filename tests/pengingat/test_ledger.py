"""The ledger: one row for each due time of a reminder, and the state of an unanswered row."""

from datetime import date, timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.notifications.models import Channel, Delivery
from app.pengingat import jobs
from app.pengingat.ledger import missed
from app.pengingat.models import Occurrence
from tests.pengingat.answering import create
from tests.pengingat.ledgers import ledger, past, settle, waiting
from tests.routes.requests import undone

COMING = ["02 12:00 1", "03 00:00 0", "03 12:00 1"]


def states(state, *dues):
    return [f"{due} {state}" for due in dues]


def undelivered():
    """Return whether the missed occurrence is undelivered."""
    found = sa.select(Occurrence.undelivered).filter_by(state="missed")
    return db.session.scalars(found).one()


def test_each_due_time_of_the_next_36_hours_has_one_ledger_row(metformin):
    assert ledger() == states("pending", *COMING)
    row = db.session.scalars(sa.select(Occurrence).order_by(Occurrence.due_at).limit(1)).one()
    assert (row.reminder_id, row.tipe, row.judul) == (metformin.id, "obat", "Obat diabetes")


def test_the_day_of_an_occurrence_is_in_the_time_zone_of_the_reminder(siti, moment, obat):
    create(siti, {**obat, "timezone": "Pacific/Kiritimati"})  # the offset of this zone is UTC+14
    days = db.session.scalars(sa.select(Occurrence.day).order_by(Occurrence.due_at)).all()
    assert days == [date(2026, 3, day) for day in (3, 3, 4, 4, 5)]


def test_an_occurrence_without_an_answer_is_missed_after_one_hour(metformin, moment):
    moment.elapse(hours=11, minutes=59)
    assert ledger()[:3] == states("pending", *COMING)
    moment.elapse(minutes=1)
    assert ledger()[:3] == [*states("missed", COMING[0]), *states("pending", *COMING[1:])]
    metformin.client.delete(metformin.path)
    assert ledger()[:3] == [*states("missed", COMING[0]), *states("void", *COMING[1:])]
    assert waiting() == waiting("push_fan_out") == []
    assert db.session.scalars(sa.select(Occurrence.reminder_id).distinct()).all() == [None]


def test_a_missed_occurrence_is_undelivered_if_no_channel_delivered_it(metformin, moment, subtests):
    due = Delivery.due_at <= moment.now + timedelta(hours=11)
    moment.move(hours=12)
    for channel, values, is_undelivered in (
        (Channel.MESSAGING, {"state": "sent"}, False),
        (Channel.PUSH, {"state": "sent"}, False),
        (Channel.PUSH_FAN_OUT, {"state": "sent"}, True),  # undelivered, because the person has no browser
        (Channel.MESSAGING, {"state": "failed"}, True),
        (Channel.MESSAGING, {"state": "missed"}, True),
        *(
            (Channel.MESSAGING, {"state": "sent", "receipt": receipt}, receipt == "failed")
            for receipt in ("accepted", "sent", "failed", "delivered", "read")
        ),
    ):
        with subtests.test(f"{channel} {values}"), undone():
            settle("failed", due)
            if channel == Channel.PUSH:
                db.session.execute(sa.update(Delivery).filter_by(channel="push_fan_out").values(channel="push"))
            db.session.execute(sa.update(Delivery).where(Delivery.channel == channel, due).values(**values))
            jobs.miss_overdue()
            assert undelivered() is is_undelivered


def test_an_occurrence_reopened_too_late_to_send_is_not_undelivered(metformin, moment):
    moment.move(hours=10, minutes=50)
    metformin.put(is_done=True)
    moment.move(hours=1, minutes=40)
    metformin.put(is_done=False)
    jobs.miss_overdue()
    assert undelivered() is False


def test_later_receipts_decide_whether_a_missed_occurrence_is_undelivered(metformin, moment):
    due = Delivery.due_at <= moment.now + timedelta(hours=11)
    settle("failed", due)
    settle("sent", due, Delivery.channel == "messaging")
    moment.elapse(hours=12)
    message = db.session.scalars(sa.select(Delivery).where(due, Delivery.channel == "messaging")).one()
    for receipt, is_undelivered in (("failed", True), ("delivered", False)):
        message.receipt = receipt
        db.session.flush()
        missed.follow_receipts([message.id])
        assert undelivered() is is_undelivered


def test_an_occurrence_with_a_claimed_delivery_is_not_yet_missed(metformin, moment):
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
    assert undelivered() is False


def test_a_new_title_changes_only_future_occurrences(metformin, moment):
    moment.move(hours=11, minutes=5)
    metformin.put(judul="Gula darah")
    assert ledger()[:3] == states("pending", *COMING)
    titles = db.session.scalars(sa.select(Occurrence.judul).order_by(Occurrence.due_at)).all()
    assert titles == ["Obat diabetes", *["Gula darah"] * 4]


# --- `is_done` and the ledger ---------------------------------------------------------------------------------------


def test_is_done_days_before_a_weekly_session_marks_the_next_session_done(siti, moment):
    session = create(
        siti, {"tipe": "terapi", "judul": "T", "details": {"jadwal": [{"hari": "minggu", "jam": "02:00"}]}}
    )
    assert ledger() == []
    session.put(is_done=True)
    assert ledger(timedelta(days=7)) == ["08 02:00 0 done"]
    for _ in range(14):
        moment.elapse(hours=12)
    assert ledger() == ["08 02:00 0 done"]
    assert waiting() == []


def test_is_done_on_an_appointment_closes_all_its_occurrences_until_it_is_taken_back(siti, moment, kontrol):
    visit = create(siti, kontrol)
    moment.move(hours=2, minutes=5)  # the notice that is due one day before the appointment was sent
    for take_back in (lambda: visit.put(is_done=False), lambda: visit.answer("undo")):
        visit.put(is_done=True)
        assert (ledger(), waiting(), visit.is_done) == (["02 03:00 1d done", "03 02:00 1h void"], [], True)
        take_back()
        assert (ledger(), visit.is_done) == (["02 03:00 1d pending", "03 02:00 1h pending"], False)
        assert waiting() == ["02 03:00", "03 02:00"]


# --- retention ------------------------------------------------------------------------------------------------------


def test_occurrences_are_deleted_after_400_days(siti_id, moment, monkeypatch):
    monkeypatch.setattr(jobs, "DELETE_BATCH", 2)
    for n, days in enumerate((399, 401, 402, 800)):
        past(siti_id, 1, "done", slot=f"{n}", due_at=moment.now - timedelta(days=days))
    jobs.delete_old()
    assert [row.split()[2] for row in ledger()] == ["0"]
