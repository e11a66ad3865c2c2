"""Field `is_done` of a reminder: it is true only for the current due time."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.notifications.models import Delivery
from app.pengingat import jobs
from app.pengingat.models import Occurrence
from tests.pengingat.answering import create, with_doses
from tests.pengingat.ledgers import ledger, settle, waiting


def test_is_done_answers_the_first_dose_however_far_ahead_and_cancels_only_its_message(metformin, moment):
    for _ in range(2):
        assert metformin.put(is_done=True)["is_done"] is True
        assert ledger()[0] == "02 12:00 1 done"
        assert waiting() == ["03 00:00", "03 12:00"]
        for status in ("done", "skipped", "snooze"):
            metformin.refuses("too_early", status, due_at="2026-03-02T12:00:00Z")
        assert metformin.put(is_done=False)["is_done"] is False
        assert ledger()[0] == "02 12:00 1 pending"
        assert waiting() == waiting("push_fan_out") == ["02 12:00", "03 00:00", "03 12:00"]
    metformin.put(is_done=True)
    moment.move(hours=22, minutes=59)
    assert metformin.is_done
    moment.move(minutes=1)
    assert not metformin.is_done


def test_is_done_records_when_and_how(metformin, moment):
    moment.move(hours=11, minutes=5)
    metformin.put(is_done=True)
    row = db.session.scalars(sa.select(Occurrence).filter_by(state="done")).one()
    assert (row.answered_at, row.answered_via) == (moment.now, "app")


def test_a_visit_that_is_done_stays_done_until_it_is_rescheduled(siti, moment, kontrol):
    visit = create(siti, kontrol)
    done = visit.put(is_done=True)
    assert waiting() == []
    moment.move(days=400)
    assert visit.is_done
    moment.move(days=-400)
    assert visit.put(**{**done, "waktu": "2026-03-03T04:00:00Z"})["is_done"] is False
    assert waiting() == ["02 04:00", "03 03:00"]


@pytest.mark.parametrize("ahead", [30, 65], ids=["within an hour", "over an hour"])
def test_marking_done_before_the_next_dose_answers_the_last_due_dose(metformin, moment, ahead):
    moment.elapse(hours=23, minutes=-ahead)  # the next dose is due at 00:00 UTC
    assert metformin.put(is_done=True)["is_done"] is True
    assert ledger()[:2] == ["02 12:00 1 done", "03 00:00 0 pending"]
    assert "03 00:00" in waiting()
    moment.move(minutes=ahead)
    assert not metformin.is_done


def test_an_update_with_unchanged_is_done_before_a_dose_keeps_its_message(metformin, moment):
    moment.move(hours=11, minutes=5)
    record = metformin.put(is_done=True)
    moment.move(hours=11, minutes=30)
    metformin.put(**{**record, "judul": "Baru"})
    assert "03 00:00" in waiting()


def test_is_done_answers_a_time_of_any_age_and_undo_takes_it_back(siti, moment, obat):
    medicine = create(siti, obat, selesai="2026-03-02")
    moment.elapse(days=60)
    assert medicine.put(is_done=True)["is_done"] is True
    assert medicine.say("undo").json["state"] == "missed"
    assert not medicine.is_done


# --- messages that are late ------------------------------------------------------------------------------------------


def test_is_done_cancels_only_the_messages_of_its_own_dose(siti, moment, obat):
    medicine = create(siti, obat, **with_doses(obat, "12:00", "12:30", "20:00"))
    moment.move(hours=11, minutes=35)  # no message has been sent yet
    medicine.put(is_done=True)
    assert ledger()[:2] == ["02 12:00 0 pending", "02 12:30 1 done"]
    assert waiting()[:2] == waiting("push_fan_out")[:2] == ["02 12:00", "02 20:00"]
    moment.move(minutes=30)
    settle("missed", Delivery.state == "pending", Delivery.expires_at <= moment.now)
    jobs.miss_overdue()
    assert db.session.scalars(sa.select(Occurrence).filter_by(state="missed")).one().undelivered is True


# --- doses that are done up to an hour in advance -------------------------------------------------------------------

#: Due times of this evening: 19:00, 19:40 and 20:10 in Jakarta. The present time is 19:15.
LAST, NEXT, SECOND = "2026-03-02T12:00:00Z", "2026-03-02T12:40:00Z", "2026-03-02T13:10:00Z"


@pytest.fixture
def evening(siti, moment, obat):
    medicine = create(siti, obat, **with_doses(obat, "12:00", "12:40", "13:10", persediaan={"sisa": 10}))
    moment.elapse(hours=11, minutes=15)
    return medicine


def test_an_answer_without_a_due_time_means_the_dose_that_was_just_answered_for_two_minutes(moment, evening):
    for minutes, due_at in ((0, LAST), (1, LAST), (1, NEXT)):
        moment.move(minutes=minutes)
        assert evening.answer("done")["due_at"] == due_at


def test_a_dose_done_in_advance_counts_as_done_from_its_due_time(moment, evening):
    for _ in range(2):
        evening.say("done", due_at=NEXT)
    assert not evening.is_done  # the dose of 19:00 has no answer
    moment.move(minutes=30)
    assert (evening.is_done, evening.left) == (True, 9)
    moment.move(minutes=30)
    assert not evening.is_done


def test_is_done_stays_true_over_consecutive_doses_done_in_advance(moment, evening):
    evening.put(is_done=True)
    for due_at in (NEXT, SECOND):
        evening.say("done", due_at=due_at)
        assert evening.is_done
    moment.elapse(hours=23, minutes=44)
    assert evening.is_done
    moment.move(minutes=1)
    assert not evening.is_done


def test_an_unanswered_dose_between_two_done_doses_keeps_its_message(moment, evening):
    evening.put(is_done=True)
    evening.say("done", due_at=SECOND)
    assert "02 12:40" in waiting()
    assert evening.is_done
    moment.move(minutes=30)
    assert not evening.is_done
    evening.say("skipped", due_at=NEXT)
    moment.move(minutes=30)
    assert evening.is_done


def test_a_dose_done_in_advance_can_be_changed_to_skipped(moment, evening):
    evening.put(is_done=True)
    evening.say("done", due_at=NEXT)
    evening.say("skipped", due_at=NEXT)
    assert evening.is_done
    moment.move(minutes=30)
    assert not evening.is_done


def test_skipping_the_current_dose_keeps_a_dose_done_in_advance(moment, evening):
    evening.put(is_done=True)
    for status in ("done", "skipped"):
        evening.say("done", due_at=NEXT)
        evening.say(status, due_at=LAST)
        assert evening.is_done == (status == "done")
    moment.move(minutes=30)
    assert evening.is_done


@pytest.mark.parametrize("minutes", [0, 15])
def test_resetting_is_done_of_the_current_dose_keeps_a_dose_done_in_advance(moment, evening, minutes):
    evening.put(is_done=True)
    evening.say("done", due_at=NEXT)
    moment.move(minutes=minutes)
    assert evening.put(is_done=False)["is_done"] is False
    assert ledger()[:2] == ["02 12:00 0 pending", "02 12:40 1 done"]
    assert "02 12:40" not in waiting()
    moment.move(minutes=30 - minutes)
    assert evening.is_done
