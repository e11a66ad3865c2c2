"""Answers that a person gave without a network.

Such an answer counts from the time at which it was given. It does not replace a newer answer.
"""

import pytest

from app.core.database.session import db
from app.pengingat import jobs
from tests.helpers.client import assert_error
from tests.pengingat.answering import Reminder
from tests.pengingat.ledgers import ledger

#: Due time of the dose at 19:00 in Jakarta, and the time of an answer five minutes later.
DUE_AT, THEN = "2026-03-02T12:00:00Z", "2026-03-02T12:05:00Z"


@pytest.fixture
def dose(siti, moment, obat):
    """Create a dose that was due at 12:00 UTC and is missed.

    The present time is 02:00 of the next day. The next dose fell due at 00:00.
    """
    details = {**obat["details"], "persediaan": {"sisa": 10}}
    reminder = Reminder(siti, siti.post("/pengingat/obat", {**obat, "details": details}).json["id"])
    moment.move(hours=13, minutes=5)
    jobs.miss_overdue()
    moment.move(hours=11, minutes=55)
    jobs.top_up()
    jobs.miss_overdue()
    return reminder


def left(dose):
    return dose.client.get(f"/pengingat/{dose.id}").json["details"]["persediaan"]["sisa"]


@pytest.mark.parametrize("status", ["done", "skipped"])
def test_an_offline_answer_is_accepted_after_the_next_dose_is_due(dose, status):
    assert_error(dose.say("done", due_at=DUE_AT), 409, "already_closed")
    answer = dose.say(status, due_at=DUE_AT, answered_at=THEN)
    assert answer.status_code == 200
    assert (answer.json["state"], answer.json["answered_at"], answer.json["late"]) == (status, THEN, False)
    assert ledger()[0] == f"02 12:00 1 {status}"
    assert left(dose) == (9.5 if status == "done" else 10)


def test_an_offline_answer_is_late_by_the_time_it_was_given(dose):
    answer = dose.say("done", due_at=DUE_AT, answered_at="2026-03-02T13:00:00Z")
    assert answer.json["late"] is True


def test_an_offline_answer_given_after_the_next_due_time_is_refused(dose):
    for moment in ("2026-03-03T00:00:00Z", "2026-03-03T00:30:00Z"):
        assert_error(dose.say("done", due_at=DUE_AT, answered_at=moment), 409, "already_closed")
    assert dose.say("done", due_at=DUE_AT, answered_at="2026-03-02T23:59:59Z").status_code == 200


def test_an_old_offline_answer_given_after_the_next_due_time_is_refused(dose, moment):
    """Test an answer to a dose that is older than the last ten rows.

    By default, the service reads only the last ten rows for an answer. The next dose is older than these rows too.
    """
    for _ in range(6):
        moment.move(hours=24)
        jobs.top_up()
        jobs.miss_overdue()
    db.session.commit()
    moment.now = moment.now.replace(day=9, hour=11)
    assert_error(dose.say("done", due_at=DUE_AT, answered_at="2026-03-03T00:01:00Z"), 409, "already_closed")
    assert dose.say("done", due_at=DUE_AT, answered_at="2026-03-02T12:01:00Z").json["state"] == "done"


def test_an_offline_answer_sent_twice_is_recorded_once(dose):
    first, second = (dose.say("done", due_at=DUE_AT, answered_at=THEN) for _ in range(2))
    assert first.json == second.json
    assert left(dose) == 9.5


def test_an_older_offline_answer_does_not_replace_a_newer_answer(dose):
    newer = dose.say("done", due_at=DUE_AT, answered_at=THEN)
    for older in ("2026-03-02T12:04:59Z", THEN):
        answer = dose.say("skipped", due_at=DUE_AT, answered_at=older)
        assert (answer.status_code, answer.json) == (200, newer.json)
    changed = dose.say("skipped", due_at=DUE_AT, answered_at="2026-03-02T12:06:00Z")
    assert (changed.json["state"], left(dose)) == ("skipped", 10)


def test_an_offline_answer_given_before_an_undo_is_not_recorded(dose):
    dose.say("done", due_at=DUE_AT, answered_at="2026-03-03T00:00:00Z")
    dose.say("done", due_at="2026-03-03T00:00:00Z")
    assert dose.say("undo").json["state"] == "missed"
    answer = dose.say("done", due_at="2026-03-03T00:00:00Z", answered_at="2026-03-03T01:59:00Z")
    assert (answer.status_code, answer.json["state"], left(dose)) == (200, "missed", 10)
    assert dose.say("done", due_at="2026-03-03T00:00:00Z").json["state"] == "done"


def test_an_offline_answer_can_be_undone_for_a_day_after_it_came(dose, moment):
    moment.move(days=2)
    dose.say("done", due_at=DUE_AT, answered_at=THEN)
    moment.move(hours=23, minutes=59)
    assert dose.say("undo").json["due_at"] == DUE_AT
    assert (ledger()[0], left(dose)) == ("02 12:00 1 missed", 10)
    dose.say("skipped", due_at=DUE_AT, answered_at=THEN)
    assert_error(dose.say("undo"), 409, "nothing_to_undo")  # the answer is older than the undo, so it does not count


def test_an_offline_answer_cannot_be_undone_a_day_after_it_came(dose, moment):
    dose.say("done", due_at=DUE_AT, answered_at=THEN)
    moment.move(hours=24)
    assert_error(dose.say("undo", due_at=DUE_AT), 409, "nothing_to_undo")


def test_undo_takes_back_the_answer_that_came_last(dose, moment):
    dose.say("done", due_at="2026-03-03T00:00:00Z")
    moment.move(minutes=1)
    dose.say("done", due_at=DUE_AT, answered_at=THEN)
    assert dose.say("undo").json["due_at"] == DUE_AT
    assert dose.say("undo").json["due_at"] == "2026-03-03T00:00:00Z"


def test_an_answered_at_up_to_two_minutes_in_the_future_is_accepted(dose, moment):
    due_at = "2026-03-03T00:00:00Z"
    assert_error(dose.say("done", due_at=due_at, answered_at="2026-03-03T02:02:01Z"), 400, field="answered_at")
    answer = dose.say("done", due_at=due_at, answered_at="2026-03-03T02:02:00Z")
    assert answer.json["answered_at"] == "2026-03-03T02:00:00Z"


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"status": "done", "answered_at": THEN}, "due_at"),
        ({"status": "snooze", "due_at": DUE_AT, "answered_at": THEN}, "answered_at"),
        ({"status": "undo", "due_at": DUE_AT, "answered_at": THEN}, "answered_at"),
        ({"status": "done", "due_at": DUE_AT, "answered_at": "2026-03-02T10:59:59Z"}, "answered_at"),
        ({"status": "done", "due_at": DUE_AT, "answered_at": "12:05"}, "answered_at"),
        ({"status": "done", "due_at": DUE_AT, "answered_at": "2026-03-02T12:05:00"}, "answered_at"),
        ({"status": "done", "due_at": DUE_AT, "answered_at": "2026-03-05T12:05:00Z"}, "answered_at"),
        ({"status": "done", "due_at": "2026-02-20T12:00:00Z", "answered_at": "2026-02-20T12:05:00Z"}, "answered_at"),
    ],
)
def test_an_invalid_offline_answer_is_refused(dose, fields, wrong):
    before = ledger()
    refused = dose.client.post(f"/pengingat/{dose.id}/konfirmasi", fields)
    assert_error(refused, 400, field=wrong)
    assert len(refused.json["errors"]) == 1
    assert ledger() == before


def test_all_validation_errors_of_an_offline_answer_are_reported_together(dose):
    sent = {"status": "snooze", "answered_at": THEN, "minutes": 1}
    refused = dose.client.post(f"/pengingat/{dose.id}/konfirmasi", sent)
    assert refused.json["errors"].keys() == {"due_at", "answered_at", "minutes"}
