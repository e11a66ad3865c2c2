"""Tests of due times that are more than 60 minutes ahead. No channel accepts an answer to such a due time."""

import pytest

from app.core.database.session import unit_of_work
from app.core.errors import AppError
from app.pengingat.ledger.schemas import QuickAnswer
from app.pengingat.one_tap import message_answers
from tests.helpers.client import assert_error
from tests.pengingat.ledgers import ledger, waiting
from tests.pengingat.links import page, payloads, tap
from tests.routes.requests import undone

SENTENCE = "Belum waktunya. Pengingat ini bisa dijawab mulai satu jam sebelumnya."
STATUSES = ["done", "skipped", "snooze"]
#: Due time of the dose at 19:00 in Jakarta, 11 hours ahead.
DUE_AT = "2026-03-02T12:00:00Z"
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
