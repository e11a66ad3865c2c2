"""Answers that were given without a network, and answers that come too early.

An answer without a network counts from the time at which it was given. It does not replace a newer answer.
"""

import pytest

from app.core.database.session import db, unit_of_work
from app.core.errors import AppError
from app.pengingat.ledger.schemas import QuickAnswer
from app.pengingat.one_tap import message_answers
from tests.helpers.client import assert_error
from tests.pengingat.answering import create
from tests.pengingat.ledgers import ledger, waiting
from tests.pengingat.links import page, payloads, tap
from tests.routes.requests import undone

#: Due time of the dose at 19:00 in Jakarta, and the time of an answer five minutes later.
DUE_AT, THEN = "2026-03-02T12:00:00Z", "2026-03-02T12:05:00Z"
NEXT_AT = "2026-03-03T00:00:00Z"


@pytest.fixture
def dose(siti, moment, obat):
    """Create a dose that was due at 12:00 UTC and is missed.

    The present time is 02:00 of the next day. The next dose fell due at 00:00.
    """
    dose = create(siti, obat, persediaan={"sisa": 10})
    moment.elapse(hours=13, minutes=5)
    moment.elapse(hours=11, minutes=55)
    return dose


@pytest.mark.parametrize("status", ["done", "skipped"])
def test_an_offline_answer_is_accepted_once_after_the_next_dose_is_due(dose, status):
    dose.refuses("already_closed", "done", due_at=DUE_AT)
    for _ in range(2):
        answer = dose.say(status, due_at=DUE_AT, answered_at=THEN).ok()
        assert (answer["state"], answer["answered_at"], answer["late"]) == (status, THEN, False)
        assert ledger()[0] == f"02 12:00 1 {status}"
        assert dose.left == (9.5 if status == "done" else 10)


def test_an_offline_answer_is_late_by_the_time_it_was_given(dose):
    assert dose.say("done", due_at=DUE_AT, answered_at="2026-03-02T13:00:00Z").json["late"] is True


def test_an_offline_answer_given_after_the_next_due_time_is_refused(dose):
    for moment in (NEXT_AT, "2026-03-03T00:30:00Z"):
        dose.refuses("already_closed", "done", due_at=DUE_AT, answered_at=moment)
    assert dose.say("done", due_at=DUE_AT, answered_at="2026-03-02T23:59:59Z").status_code == 200


def test_an_old_offline_answer_given_after_the_next_due_time_is_refused(dose, moment):
    """Test an answer to a dose that is older than the last ten rows.

    By default, the service reads only the last ten rows for an answer. The next dose is older than these rows too.
    """
    for _ in range(6):
        moment.elapse(hours=24)
    db.session.commit()
    moment.now = moment.now.replace(day=9, hour=11)
    dose.refuses("already_closed", "done", due_at=DUE_AT, answered_at="2026-03-03T00:01:00Z")
    assert dose.say("done", due_at=DUE_AT, answered_at="2026-03-02T12:01:00Z").json["state"] == "done"


def test_an_older_offline_answer_does_not_replace_a_newer_answer(dose):
    newer = dose.say("done", due_at=DUE_AT, answered_at=THEN)
    for older in ("2026-03-02T12:04:59Z", THEN):
        answer = dose.say("skipped", due_at=DUE_AT, answered_at=older)
        assert (answer.status_code, answer.json) == (200, newer.json)
    changed = dose.say("skipped", due_at=DUE_AT, answered_at="2026-03-02T12:06:00Z")
    assert (changed.json["state"], dose.left) == ("skipped", 10)


def test_an_offline_answer_given_before_an_undo_is_not_recorded(dose):
    dose.say("done", due_at=DUE_AT, answered_at=NEXT_AT)
    dose.say("done", due_at=NEXT_AT)
    assert dose.say("undo").json["state"] == "missed"
    answer = dose.say("done", due_at=NEXT_AT, answered_at="2026-03-03T01:59:00Z")
    assert (answer.status_code, answer.json["state"], dose.left) == (200, "missed", 10)
    assert dose.say("done", due_at=NEXT_AT).json["state"] == "done"


def test_an_offline_answer_can_be_undone_for_a_day_after_it_came(dose, moment):
    moment.move(days=2)
    dose.say("done", due_at=DUE_AT, answered_at=THEN)
    moment.move(hours=24)
    dose.refuses("nothing_to_undo", "undo", due_at=DUE_AT)
    moment.move(minutes=-1)
    assert dose.say("undo").json["due_at"] == DUE_AT
    assert (ledger()[0], dose.left) == ("02 12:00 1 missed", 10)
    dose.say("skipped", due_at=DUE_AT, answered_at=THEN)
    dose.refuses("nothing_to_undo", "undo")  # the answer is older than the undo, so it does not count


def test_undo_takes_back_the_answer_that_came_last(dose, moment):
    dose.say("done", due_at=NEXT_AT)
    moment.move(minutes=1)
    dose.say("done", due_at=DUE_AT, answered_at=THEN)
    assert dose.say("undo").json["due_at"] == DUE_AT
    assert dose.say("undo").json["due_at"] == NEXT_AT


def test_an_answered_at_up_to_two_minutes_in_the_future_is_accepted(dose, moment):
    assert_error(dose.say("done", due_at=NEXT_AT, answered_at="2026-03-03T02:02:01Z"), 400, field="answered_at")
    answer = dose.say("done", due_at=NEXT_AT, answered_at="2026-03-03T02:02:00Z")
    assert answer.json["answered_at"] == "2026-03-03T02:00:00Z"


def test_an_invalid_offline_answer_is_refused_with_all_its_errors(dose, subtests):
    before = ledger()
    for fields, wrong in (
        ({"status": "done", "answered_at": THEN}, ["due_at"]),
        ({"status": "snooze", "due_at": DUE_AT, "answered_at": THEN}, ["answered_at"]),
        ({"status": "undo", "due_at": DUE_AT, "answered_at": THEN}, ["answered_at"]),
        ({"status": "done", "due_at": DUE_AT, "answered_at": "2026-03-02T10:59:59Z"}, ["answered_at"]),
        ({"status": "done", "due_at": "2026-02-20T12:00:00Z", "answered_at": "2026-02-20T12:05:00Z"}, ["answered_at"]),
        ({"status": "snooze", "answered_at": THEN, "minutes": 1}, ["answered_at", "due_at", "minutes"]),
    ):
        with subtests.test(str(fields)):
            refused = dose.say(**fields)
            assert_error(refused, 400, "validation_error")
            assert sorted(refused.json["errors"]) == wrong
    assert ledger() == before


# --- due times more than 60 minutes ahead: no channel accepts an answer -----------------------------------------------


SENTENCE = "Belum waktunya. Pengingat ini bisa dijawab mulai satu jam sebelumnya."
STATUSES = ["done", "skipped", "snooze"]
#: Due times that are not in the ledger yet. The last one is not in the schedule either.
LATER = ["2026-03-06T12:00:00Z", "2026-03-06T19:00:00.75+07:00", "9000-12-30T12:01:00Z"]


def test_a_dose_far_ahead_cannot_be_answered(metformin, moment):
    before = (ledger(), waiting(), waiting("push_fan_out"), metformin.record)
    for status in STATUSES:
        for due_at in (DUE_AT, *LATER):
            metformin.refuses("too_early", status, due_at=due_at)
            metformin.refuses("too_early", status, due_at=due_at, slot="1")
    moment.move(hours=9, minutes=59, seconds=59)
    for status in STATUSES:
        metformin.refuses("too_early", status, due_at=DUE_AT)
    moment.move(hours=-9, minutes=-59, seconds=-59)
    assert (ledger(), waiting(), waiting("push_fan_out"), metformin.record) == before


def test_a_dose_exactly_an_hour_ahead_can_be_answered(metformin, moment):
    moment.move(hours=10)
    for status in STATUSES:
        with undone():
            assert metformin.say(status, due_at=DUE_AT).status_code == 200


def test_an_answer_by_link_push_or_message_is_refused_as_too_early(public, client, siti_id, metformin):
    push, link = str(payloads("push_fan_out")[0]["token"]), str(payloads("messaging")[0]["parts"]["token"])
    before = (ledger(), waiting())
    for status in STATUSES:
        for token in (push, link):
            assert_error(client.post(f"/konfirmasi/{token}", {"status": status}), 409, "too_early")
        refused = tap(client, link, status)
        assert (refused.status_code, SENTENCE in refused.text) == (409, True)
        with pytest.raises(AppError) as by_message, unit_of_work():
            message_answers.answer_button(siti_id, link, QuickAnswer(status))
        assert (by_message.value.code, by_message.value.message) == ("too_early", SENTENCE)
    assert page(client, link).status_code == 200
    assert (ledger(), waiting()) == before
