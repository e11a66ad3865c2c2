"""Undo of an answer. After the undo, the ledger, the stock, the outbox and `is_done` are as before the answer."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.notifications.models import Delivery
from app.pengingat import jobs
from app.pengingat.ledger import answers
from app.pengingat.ledger.answers import NothingToUndo
from app.pengingat.models import Occurrence
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user
from tests.pengingat.answering import Reminder
from tests.pengingat.ledgers import ledger, settle, waiting


@pytest.fixture
def dose(siti, moment, obat):
    """Create a dose of half a tablet that was due five minutes ago, at 12:00 UTC. The stock is 10 tablets."""
    details = {**obat["details"], "persediaan": {"sisa": 10, "ingatkan_hari": 1}, "ingatkan_ulang_menit": 15}
    reminder = Reminder(siti, siti.post("/pengingat/obat", {**obat, "details": details}).json["id"])
    moment.move(hours=11, minutes=5)
    return reminder


def undo():
    with unit_of_work():
        return answers.undo_all(db.session.scalars(sa.select(Occurrence).order_by(Occurrence.due_at).limit(1)).all())


def alerts():
    return list(db.session.scalars(sa.select(Delivery).filter_by(kind="alert", channel="messaging")))


def left(dose):
    return dose.client.get(f"/pengingat/{dose.id}").json["details"]["persediaan"]["sisa"]


@pytest.mark.parametrize("status", ["done", "skipped"])
def test_undo_within_an_hour_reopens_the_dose(dose, status):
    dose.say(status)
    (row,) = undo()
    assert (row.state, row.answered_at, row.answered_via, row.stock_deducted) == ("pending", None, None, None)
    assert (left(dose), dose.is_done) == (10, False)


def test_undo_after_an_hour_marks_the_dose_as_missed(dose, moment):
    dose.say("done")
    moment.move(minutes=55)
    (row,) = undo()
    assert (row.state, left(dose), dose.is_done) == ("missed", 10, False)


def test_undo_reopens_a_snoozed_dose_more_than_an_hour_after_its_due_time(dose, moment):
    dose.say("snooze", minutes=60)
    dose.say("done")
    moment.move(minutes=56)
    (row,) = undo()
    assert row.state == "pending"


def test_undo_does_not_enqueue_a_sent_delivery_again(dose):
    settle("sent")
    dose.say("done")
    undo()
    assert waiting() == []


def test_what_is_still_to_ring_rings_after_undo(dose):
    dose.say("done")
    assert "02 12:00" not in waiting()
    undo()
    assert [due for due in waiting() if due.startswith("02")] == ["02 12:00", "02 12:15"]


def test_the_caregiver_is_alerted_once_if_undo_makes_a_dose_missed(dose, moment, caregiver_id):
    dose.say("done")
    moment.move(minutes=55)
    for _ in range(2):
        undo()
        assert len(alerts()) == 1
        dose.say("done", due_at="2026-03-02T12:00:00Z")


def test_the_caregiver_is_not_alerted_if_undo_reopens_the_dose(dose, caregiver_id):
    dose.say("done")
    undo()
    assert alerts() == []


def test_a_dose_can_be_answered_after_an_undo(dose):
    dose.say("done")
    undo()
    assert dose.say("skipped").json["state"] == "skipped"
    assert ledger()[0] == "02 12:00 1 skipped"
    assert left(dose) == 10


def test_an_unanswered_or_snoozed_dose_has_nothing_to_undo(dose):
    with pytest.raises(NothingToUndo):
        undo()
    dose.say("snooze")
    with pytest.raises(NothingToUndo):
        undo()


def test_an_answer_can_be_undone_only_once(dose):
    dose.say("done")
    undo()
    with pytest.raises(NothingToUndo):
        undo()
    assert left(dose) == 10


def test_an_answer_can_be_undone_for_less_than_a_day(dose, moment):
    dose.say("done")
    moment.now += timedelta(hours=24)
    with pytest.raises(NothingToUndo):
        undo()
    moment.now -= timedelta(seconds=1)
    assert undo()[0].state == "missed"


def test_an_answer_of_a_deleted_reminder_cannot_be_undone(dose):
    dose.say("done")
    dose.client.delete(f"/pengingat/{dose.id}")
    with pytest.raises(NothingToUndo):
        undo()


# --- in the application ---------------------------------------------------------------------------------------------


def test_an_undo_request_reverts_the_last_answer(dose, moment):
    dose.say("done")
    answer = dose.say("undo")
    assert answer.status_code == 200
    assert (answer.json["state"], answer.json["answered_at"], answer.json["due_at"]) == (
        "pending",
        None,
        "2026-03-02T12:00:00Z",
    )
    assert (left(dose), dose.is_done) == (10, False)


def test_undo_reverts_the_most_recent_answer_and_not_that_of_the_last_dose(dose, moment):
    dose.say("done")
    moment.move(hours=11, minutes=55)
    jobs.top_up()
    dose.say("done", due_at="2026-03-03T00:00:00Z")
    moment.move(minutes=1)
    dose.say("skipped", due_at="2026-03-02T12:00:00Z")
    assert dose.say("undo").json["due_at"] == "2026-03-02T12:00:00Z"
    assert dose.say("undo").json["due_at"] == "2026-03-03T00:00:00Z"
    assert_error(dose.say("undo"), 409, "nothing_to_undo")


def test_undo_accepts_a_due_time_and_a_slot(dose, moment):
    dose.say("done")
    moment.move(hours=11, minutes=55)
    jobs.top_up()
    dose.say("done", due_at="2026-03-03T00:00:00Z")
    named = {"due_at": "2026-03-02T12:00:00Z"}
    assert_error(dose.say("undo", **named, slot="0"), 409, "nothing_to_undo")
    answer = dose.say("undo", **named, slot="1")
    assert (answer.json["due_at"], answer.json["state"]) == ("2026-03-02T12:00:00Z", "missed")
    assert_error(dose.say("undo", **named), 409, "nothing_to_undo")
    assert dose.say("undo", slot="0").json["slot"] == "0"


@pytest.mark.parametrize("named", [{}, {"due_at": "2026-03-02T12:00:00Z"}, {"due_at": "2027-03-02T12:00:00Z"}])
def test_an_undo_request_without_an_answer_is_409(dose, named):
    before = ledger(), waiting()
    assert_error(dose.say("undo", **named), 409, "nothing_to_undo")
    dose.say("snooze")
    assert_error(dose.say("undo", **named), 409, "nothing_to_undo")
    assert ledger() == before[0]


def test_a_stranger_cannot_undo_an_answer(dose, client):
    dose.say("done")
    assert_error(client.as_(make_user()).post(f"/pengingat/{dose.id}/konfirmasi", {"status": "undo"}), 404)
    assert_error(client.post(f"/pengingat/{dose.id}/konfirmasi", {"status": "undo"}), 401)


def test_an_answer_link_does_not_accept_undo(client, token):
    assert_error(client.post(f"/konfirmasi/{token}", {"status": "undo"}), 400, field="status")


def test_undo_of_an_early_answer_restores_the_repeat_message(dose, moment):
    moment.move(hours=10, minutes=55)
    jobs.top_up()
    before = waiting()
    dose.say("done", due_at="2026-03-03T00:00:00Z")
    assert dose.say("undo").json["state"] == "pending"
    assert waiting() == before


def test_undo_reverts_an_answer_that_is_done_recorded(dose, moment):
    dose.client.put(f"/pengingat/{dose.id}", {"is_done": True})
    assert dose.say("undo").json["state"] == "pending"
    assert (dose.is_done, left(dose)) == (False, 10)


def test_undo_reopens_a_done_visit_and_restores_its_deliveries(siti, moment, kontrol):
    visit = Reminder(siti, siti.post("/pengingat/", kontrol).json["id"])
    before = waiting()
    moment.move(hours=2, minutes=1)
    siti.put(f"/pengingat/{visit.id}", {"is_done": True})
    assert (visit.is_done, waiting()) == (True, [])
    assert visit.say("undo").json["state"] == "pending"
    assert (visit.is_done, waiting()) == (False, before)
