"""Undo of an answer. After it, the ledger, the stock, the outbox and `is_done` are as before the answer."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.pengingat import jobs
from app.pengingat.ledger import answers
from app.pengingat.ledger.answers import NothingToUndo
from app.pengingat.models import CaregiverAlert, Occurrence
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user
from tests.pengingat.answering import Reminder
from tests.pengingat.ledgers import Time, ledger, settle, waiting


@pytest.fixture
def dose(siti: Client, moment: Time, obat: dict[str, Any]) -> Reminder:
    """Create a dose of half a tablet that was due five minutes ago, at 12:00 UTC. The stock is 10 tablets."""
    details = {**obat["details"], "persediaan": {"sisa": 10}, "ingatkan_ulang_menit": 15}
    reminder = Reminder(siti, siti.post("/pengingat/obat", {**obat, "details": details}).json["id"])
    moment.move(hours=11, minutes=5)
    return reminder


def undo() -> list[Occurrence]:
    with unit_of_work():
        return answers.undo_all(db.session.scalars(sa.select(Occurrence).order_by(Occurrence.due_at).limit(1)).all())


def left(dose: Reminder) -> Any:
    return dose.client.get(f"/pengingat/{dose.id}").json["details"]["persediaan"]["sisa"]


@pytest.mark.parametrize("status", ["done", "skipped"])
def test_within_an_hour_the_dose_is_open_again(dose: Reminder, status: str) -> None:
    dose.say(status)
    (row,) = undo()
    assert (row.state, row.answered_at, row.answered_via, row.stock_deducted) == ("pending", None, None, None)
    assert (left(dose), dose.is_done) == (10, False)


def test_after_an_hour_it_was_missed(dose: Reminder, moment: Time) -> None:
    dose.say("done")
    moment.move(minutes=55)
    (row,) = undo()
    assert (row.state, left(dose), dose.is_done) == ("missed", 10, False)


def test_a_dose_that_was_put_off_is_open_until_an_hour_after_that(dose: Reminder, moment: Time) -> None:
    dose.say("snooze", minutes=60)
    dose.say("done")
    moment.move(minutes=56)
    (row,) = undo()
    assert row.state == "pending"


def test_what_has_left_does_not_leave_again(dose: Reminder) -> None:
    settle("sent")
    dose.say("done")
    undo()
    assert waiting() == []


def test_a_first_message_that_has_not_left_leaves_after_all_and_the_second_does_not(dose: Reminder) -> None:
    dose.say("done")
    assert "02 12:00" not in waiting()
    undo()
    assert [due for due in waiting() if due.startswith("02")] == ["02 12:00"]


def test_a_caregiver_is_told_of_a_dose_that_was_missed_after_all(
    dose: Reminder, moment: Time, caregiver_id: int
) -> None:
    dose.say("done")
    moment.move(minutes=55)
    for _ in range(2):
        undo()
        told = db.session.scalars(sa.select(CaregiverAlert.about)).all()
        assert told == ["missed"]
        dose.say("done", due_at="2026-03-02T12:00:00Z")


def test_a_caregiver_is_told_of_nothing_while_it_is_open_again(dose: Reminder, caregiver_id: int) -> None:
    dose.say("done")
    undo()
    assert db.session.scalars(sa.select(CaregiverAlert.about)).all() == []


def test_it_can_be_answered_anew(dose: Reminder) -> None:
    dose.say("done")
    undo()
    assert dose.say("skipped").json["state"] == "skipped"
    assert ledger()[0] == "02 12:00 1 skipped"
    assert left(dose) == 10


def test_only_an_answer_can_be_taken_back(dose: Reminder) -> None:
    with pytest.raises(NothingToUndo):
        undo()
    dose.say("snooze")
    with pytest.raises(NothingToUndo):
        undo()


def test_an_answer_can_be_taken_back_once(dose: Reminder) -> None:
    dose.say("done")
    undo()
    with pytest.raises(NothingToUndo):
        undo()
    assert left(dose) == 10


def test_an_answer_can_be_taken_back_for_a_day(dose: Reminder, moment: Time) -> None:
    dose.say("done")
    moment.now += timedelta(hours=24)
    with pytest.raises(NothingToUndo):
        undo()
    moment.now -= timedelta(seconds=1)
    assert undo()[0].state == "missed"


def test_of_a_deleted_reminder_nothing_is_taken_back(dose: Reminder) -> None:
    dose.say("done")
    dose.client.delete(f"/pengingat/{dose.id}")
    with pytest.raises(NothingToUndo):
        undo()


# --- in the application ---------------------------------------------------------------------------------------------


def test_in_the_application_the_last_answer_is_taken_back(dose: Reminder, moment: Time) -> None:
    dose.say("done")
    answer = dose.say("undo")
    assert answer.status_code == 200
    assert (answer.json["state"], answer.json["answered_at"], answer.json["due_at"]) == (
        "pending",
        None,
        "2026-03-02T12:00:00Z",
    )
    assert (left(dose), dose.is_done) == (10, False)


def test_it_is_the_answer_that_was_given_last_and_not_that_to_the_last_dose(dose: Reminder, moment: Time) -> None:
    dose.say("done")
    moment.move(hours=11, minutes=55)
    jobs.top_up()
    dose.say("done", due_at="2026-03-03T00:00:00Z")
    moment.move(minutes=1)
    dose.say("skipped", due_at="2026-03-02T12:00:00Z")
    assert dose.say("undo").json["due_at"] == "2026-03-02T12:00:00Z"
    assert dose.say("undo").json["due_at"] == "2026-03-03T00:00:00Z"
    assert_error(dose.say("undo"), 409, "nothing_to_undo")


def test_the_time_can_be_named(dose: Reminder, moment: Time) -> None:
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
def test_without_an_answer_there_is_nothing_to_take_back(dose: Reminder, named: dict[str, str]) -> None:
    before = ledger(), waiting()
    assert_error(dose.say("undo", **named), 409, "nothing_to_undo")
    dose.say("snooze")
    assert_error(dose.say("undo", **named), 409, "nothing_to_undo")
    assert ledger() == before[0]


def test_a_stranger_takes_nothing_back(dose: Reminder, client: Client) -> None:
    dose.say("done")
    assert_error(client.as_(make_user()).post(f"/pengingat/{dose.id}/konfirmasi", {"status": "undo"}), 404)
    assert_error(client.post(f"/pengingat/{dose.id}/konfirmasi", {"status": "undo"}), 401)


def test_a_link_takes_nothing_back(client: Client, token: str) -> None:
    assert_error(client.post(f"/konfirmasi/{token}", {"status": "undo"}), 400, field="status")


def test_a_dose_that_is_still_to_come_keeps_its_second_message(dose: Reminder, moment: Time) -> None:
    moment.move(hours=10, minutes=55)
    jobs.top_up()
    before = waiting()
    dose.say("done", due_at="2026-03-03T00:00:00Z")
    assert dose.say("undo").json["state"] == "pending"
    assert waiting() == before


def test_what_is_done_says_of_a_dose_is_taken_back_too(dose: Reminder, moment: Time) -> None:
    dose.client.put(f"/pengingat/{dose.id}", {"is_done": True})
    assert dose.say("undo").json["state"] == "pending"
    assert (dose.is_done, left(dose)) == (False, 10)


def test_a_visit_that_is_done_is_to_come_again(siti: Client, moment: Time, kontrol: dict[str, Any]) -> None:
    visit = Reminder(siti, siti.post("/pengingat/", kontrol).json["id"])
    before = waiting()
    moment.move(hours=2, minutes=1)
    siti.put(f"/pengingat/{visit.id}", {"is_done": True})
    assert (visit.is_done, waiting()) == (True, [])
    assert visit.say("undo").json["state"] == "pending"
    assert (visit.is_done, waiting()) == (False, before)
