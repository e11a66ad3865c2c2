"""An answer that is taken back leaves the ledger, the stock, the outbox and `is_done` as without it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.pengingat.ledger import answers
from app.pengingat.ledger.answers import NothingToUndo
from app.pengingat.models import CaregiverAlert, Occurrence
from tests.helpers.client import Client
from tests.pengingat.answering import Reminder
from tests.pengingat.ledgers import Time, ledger, settle, waiting


@pytest.fixture
def dose(siti: Client, moment: Time, obat: dict[str, Any]) -> Reminder:
    """Due at 12:00 UTC; it is five minutes later. 10 tablets are left, and a dose is half of one."""
    details = {**obat["details"], "persediaan": {"sisa": 10}, "ingatkan_ulang_menit": 15}
    reminder = Reminder(siti, siti.post("/pengingat/obat", {**obat, "details": details}).json["id"])
    moment.move(hours=11, minutes=5)
    return reminder


def undo() -> list[Occurrence]:
    """Take back the answer to the dose of 12:00."""
    with unit_of_work():
        return answers.undo_all(db.session.scalars(sa.select(Occurrence).order_by(Occurrence.due_at).limit(1)).all())


def left(dose: Reminder) -> Any:
    return dose.client.get(f"/pengingat/{dose.id}").json["details"]["persediaan"]["sisa"]


@pytest.mark.parametrize("status", ["done", "skipped"])
def test_within_an_hour_the_dose_is_open_again(dose: Reminder, status: str) -> None:
    dose.say(status)
    (row,) = undo()
    assert (row.state, row.answered_at, row.answered_via, row.taken) == ("pending", None, None, None)
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
