"""Undo of an answer. After the undo, the ledger, the stock, the outbox and `is_done` are as before the answer."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.notifications.models import Delivery
from app.pengingat.ledger import answers
from app.pengingat.models import Occurrence
from tests.pengingat.answering import create
from tests.pengingat.ledgers import ledger, settle, waiting

DUE_AT = "2026-03-02T12:00:00Z"
NEXT_AT = "2026-03-03T00:00:00Z"


@pytest.fixture
def dose(siti, moment, obat):
    """Create a dose of half a tablet that was due five minutes ago, at 12:00 UTC. The stock is 10 tablets."""
    dose = create(siti, obat, persediaan={"sisa": 10, "ingatkan_hari": 1}, ingatkan_ulang_menit=15)
    moment.move(hours=11, minutes=5)
    return dose


@pytest.mark.parametrize("status", ["done", "skipped"])
def test_undo_within_an_hour_reopens_the_dose(dose, status):
    dose.say(status)
    undone = dose.say("undo").json
    assert [undone[name] for name in ("state", "answered_at", "answered_via", "due_at")] == [
        "pending", None, None, DUE_AT,
    ]  # fmt: skip
    assert (dose.left, dose.is_done) == (10, False)
    dose.refuses("nothing_to_undo", "undo")
    assert (dose.say("done").json["state"], dose.left) == ("done", 9.5)


def test_undo_after_an_hour_marks_the_dose_as_missed(dose, moment):
    dose.say("done")
    moment.move(minutes=55)
    assert (dose.say("undo").json["state"], dose.left, dose.is_done) == ("missed", 10, False)


def test_undo_reopens_a_snoozed_dose_more_than_an_hour_after_its_due_time(dose, moment):
    dose.say("snooze", minutes=60)
    dose.say("done")
    moment.move(minutes=56)
    assert dose.say("undo").json["state"] == "pending"


def test_undo_does_not_enqueue_a_sent_delivery_again(dose):
    settle("sent")
    dose.say("done")
    dose.say("undo")
    assert waiting() == []


def test_what_is_still_to_ring_rings_after_undo(dose, moment):
    dose.say("done")
    assert "02 12:00" not in waiting()
    dose.say("undo")
    assert [due for due in waiting() if due.startswith("02")] == ["02 12:00", "02 12:15"]
    moment.elapse(hours=10, minutes=55)  # within an hour before the next dose
    before = waiting()
    dose.say("done", due_at=NEXT_AT)
    assert dose.say("undo").json["state"] == "pending"
    assert waiting() == before


def test_the_caregiver_is_alerted_once_if_undo_makes_a_dose_missed(dose, moment, caregiver_id):
    def alerts():
        return list(db.session.scalars(sa.select(Delivery).filter_by(kind="alert", channel="messaging")))

    dose.say("done")
    dose.say("undo")
    assert alerts() == []
    dose.say("done")
    moment.move(minutes=55)
    for _ in range(2):
        dose.say("undo", due_at=DUE_AT)
        assert len(alerts()) == 1
        dose.say("done", due_at=DUE_AT)


def test_an_unanswered_or_snoozed_dose_has_nothing_to_undo(dose):
    before = ledger()
    for named in ({}, {"due_at": DUE_AT}, {"due_at": "2027-03-02T12:00:00Z"}):
        dose.refuses("nothing_to_undo", "undo", **named)
        dose.say("snooze")
        dose.refuses("nothing_to_undo", "undo", **named)
    assert ledger() == before


def test_an_answer_can_be_undone_for_less_than_a_day(dose, moment):
    dose.say("done")
    moment.now += timedelta(hours=24)
    dose.refuses("nothing_to_undo", "undo")
    moment.now -= timedelta(seconds=1)
    assert dose.say("undo").json["state"] == "missed"


def test_an_answer_of_a_deleted_reminder_cannot_be_undone_by_message(dose):
    dose.say("done")
    dose.client.delete(dose.path)
    with pytest.raises(answers.NothingToUndo):
        answers.undo_all(db.session.scalars(sa.select(Occurrence).filter_by(state="done")).all())


@pytest.fixture
def both(dose, moment):
    """Return the medicine after the answers to two of its doses."""
    dose.answer("done")
    moment.elapse(hours=11, minutes=55)
    dose.answer("done", due_at=NEXT_AT)
    return dose


def test_undo_reverts_the_most_recent_answer_and_not_that_of_the_last_dose(both, moment):
    moment.move(minutes=1)
    both.answer("skipped", due_at=DUE_AT)
    assert both.say("undo").json["due_at"] == DUE_AT
    assert both.say("undo").json["due_at"] == NEXT_AT
    both.refuses("nothing_to_undo", "undo")


def test_undo_accepts_a_due_time_and_a_slot(both):
    both.refuses("nothing_to_undo", "undo", due_at=DUE_AT, slot="0")
    answer = both.say("undo", due_at=DUE_AT, slot="1")
    assert (answer.json["due_at"], answer.json["state"]) == (DUE_AT, "missed")
    both.refuses("nothing_to_undo", "undo", due_at=DUE_AT)
    assert both.say("undo", slot="0").json["slot"] == "0"
