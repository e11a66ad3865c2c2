"""Tests of due times that are more than 60 minutes ahead. No channel accepts an answer to such a due time."""

import pytest

from app.core.database.session import db, unit_of_work
from app.core.errors import AppError
from app.identity.models import User
from app.pengingat.ledger.schemas import QuickAnswer
from app.pengingat.one_tap import message_answers
from tests.helpers.client import assert_error
from tests.pengingat.ledgers import caregiver_of, ledger, waiting
from tests.pengingat.links import page, payloads, tap

SENTENCE = "Belum waktunya. Pengingat ini bisa dijawab mulai satu jam sebelumnya."
STATUSES = ["done", "skipped", "snooze"]
#: Due time of the dose at 19:00 in Jakarta, 11 hours ahead.
DUE_AT = "2026-03-02T12:00:00Z"


@pytest.fixture
def path(siti, moment, obat):
    return f"/pengingat/{siti.post('/pengingat/obat', obat).json['id']}"


def say(client, path, status="done", **named):
    return client.post(f"{path}/konfirmasi", {"status": status, **named})


@pytest.mark.parametrize("status", STATUSES)
def test_a_dose_far_ahead_cannot_be_answered(siti, moment, path, status):
    before = (ledger(), waiting(), waiting("push_fan_out"), siti.get(path).json)
    assert_error(say(siti, path, status, due_at=DUE_AT), 409, "too_early")
    assert_error(say(siti, path, status, due_at=DUE_AT, slot="1"), 409, "too_early")
    moment.move(hours=9, minutes=59, seconds=59)
    assert_error(say(siti, path, status, due_at=DUE_AT), 409, "too_early")
    moment.move(hours=-9, minutes=-59, seconds=-59)
    assert (ledger(), waiting(), waiting("push_fan_out"), siti.get(path).json) == before


@pytest.mark.parametrize("status", STATUSES)
def test_a_dose_exactly_an_hour_ahead_can_be_answered(siti, moment, path, status):
    moment.move(hours=10)
    assert say(siti, path, status, due_at=DUE_AT).status_code == 200


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("due_at", ["2026-03-06T12:00:00Z", "2026-03-06T19:00:00.75+07:00", "9000-12-30T12:01:00Z"])
def test_a_dose_not_yet_in_the_ledger_is_refused_as_too_early(siti, path, status, due_at):
    before = ledger()
    assert_error(say(siti, path, status, due_at=due_at), 409, "too_early")
    assert_error(say(siti, path, status, due_at=due_at, slot="1"), 409, "too_early")
    assert ledger() == before


@pytest.mark.parametrize("named", [{"due_at": "2026-03-02T01:30:00Z"}, {"due_at": "2020-03-06T12:00:00Z"}])
def test_a_due_time_outside_the_schedule_is_not_found(siti, path, named):
    assert_error(say(siti, path, **named), 404, "not_found")


@pytest.mark.parametrize("due_at", ["2026-03-09T03:00:00Z", "2026-03-16T03:00:00Z"])
def test_a_weekly_session_cannot_be_answered_days_ahead(siti, moment, due_at):
    details = {"jadwal": [{"hari": "senin", "jam": "03:00"}]}
    made = siti.post("/pengingat/", {"tipe": "terapi", "judul": "Terapi", "details": details}).json
    assert_error(say(siti, f"/pengingat/{made['id']}", due_at=due_at), 409, "too_early")


def test_a_caregivers_answer_is_refused_as_too_early(client, siti_id, path):
    budi = db.session.get_one(User, caregiver_of(siti_id, "manage"))
    answer = {"status": "done", "due_at": DUE_AT}
    assert_error(client.as_(budi).post(f"{path}/konfirmasi?patient_id={siti_id}", answer), 409, "too_early")
    assert ledger()[0] == "02 12:00 1 pending"


def link_of():
    parts = payloads("messaging")[0]["parts"]
    return str(parts["token"])


@pytest.mark.parametrize("status", STATUSES)
def test_an_answer_by_link_or_push_is_refused_as_too_early(public, client, siti, path, status):
    push, link = str(payloads("push_fan_out")[0]["token"]), link_of()
    before = (ledger(), waiting())
    for token in (push, link):
        assert_error(client.post(f"/konfirmasi/{token}", {"status": status}), 409, "too_early")
    refused = tap(client, link, status)
    assert (refused.status_code, SENTENCE in refused.text) == (409, True)
    assert page(client, link).status_code == 200
    assert (ledger(), waiting()) == before


@pytest.mark.parametrize("status", STATUSES)
def test_an_answer_by_message_before_the_reminder_is_refused_as_too_early(app, siti, siti_id, path, status):
    link = link_of()
    before = (ledger(), waiting())
    with pytest.raises(AppError) as refused, unit_of_work():
        message_answers.answer_button(siti_id, link, QuickAnswer(status))
    assert (refused.value.code, refused.value.message) == ("too_early", SENTENCE)
    assert (ledger(), waiting()) == before


def test_is_done_answers_the_current_dose_even_more_than_an_hour_ahead(siti, moment, path):
    assert siti.put(path, {"is_done": True}).json["is_done"] is True
    assert ledger()[0] == "02 12:00 1 done"
    assert waiting() == ["03 00:00", "03 12:00"]
    for status in STATUSES:
        assert_error(say(siti, path, status, due_at=DUE_AT), 409, "too_early")
    assert siti.get(path).json["is_done"] is True
    assert siti.put(path, {"is_done": False}).json["is_done"] is False
    assert ledger()[0] == "02 12:00 1 pending"
