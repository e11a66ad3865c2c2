"""Answers to occurrences: the chosen occurrence, the accepted answers and their effects."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.identity import sessions
from app.identity.models import LoginSession
from app.notifications.models import Delivery
from app.pengingat.ledger.schemas import QuickAnswer
from app.pengingat.models import Occurrence
from app.pengingat.one_tap import message_answers
from tests.helpers.client import assert_error
from tests.pengingat.answering import create, with_doses
from tests.pengingat.ledgers import ledger, waiting
from tests.pengingat.links import payloads
from tests.routes.requests import undone

DUE_AT = "2026-03-02T12:00:00Z"


@pytest.fixture
def visit(siti, moment, kontrol):
    """Create an appointment with notices today at 03:00 UTC and tomorrow at 02:00 UTC."""
    return create(siti, kontrol)


def test_an_answer_returns_the_occurrence(metformin, moment):
    moment.move(hours=11, minutes=5)
    answer = metformin.say("done").ok()
    row = db.session.scalars(sa.select(Occurrence).filter_by(state="done")).one()
    assert answer == {
        "id": row.id, "pengingat_id": metformin.id, "tipe": "obat", "judul": "Obat diabetes", "slot": "1",
        "due_at": DUE_AT, "state": "done", "late": False, "answered_at": "2026-03-02T12:05:00Z",
        "answered_via": "app", "snoozed_until": None, "undelivered": False,
    }  # fmt: skip
    assert metformin.is_done
    moment.move(minutes=1)
    assert metformin.say("done").json == answer


def test_an_unknown_due_time_is_404(metformin, moment):
    assert_error(metformin.say("done"), 404, "not_found")  # the next dose is 11 hours ahead
    for at in ("2026-03-02T01:30:00Z", "2020-03-06T12:00:00Z"):
        assert_error(metformin.say("done", due_at=at), 404, "not_found")
    moment.move(hours=11)
    for named in ({"due_at": "2026-03-02T12:00:01Z"}, {"due_at": DUE_AT, "slot": "0"}):
        assert_error(metformin.say("done", **named), 404, "not_found")
    assert ledger()[0] == "02 12:00 1 pending"


def test_an_occurrence_removed_by_an_edit_cannot_be_answered(metformin, moment, obat):
    moment.move(hours=10, minutes=30)
    metformin.put(details=with_doses(obat, "05:00"))
    metformin.refuses("already_closed", "done", due_at=DUE_AT)


def test_done_within_an_hour_before_a_dose_cancels_only_its_deliveries(metformin, moment):
    moment.move(hours=10, minutes=15)
    assert metformin.say("done").json["due_at"] == DUE_AT
    assert waiting() == waiting("push_fan_out") == ["03 00:00", "03 12:00"]
    assert metformin.is_done


def test_skipped_leaves_is_done_false(metformin, moment):
    moment.move(hours=11, minutes=5)
    for status in ("skipped", "done", "skipped"):
        assert metformin.say(status).json["state"] == status
        assert metformin.is_done == (status == "done")


def test_the_slot_distinguishes_two_occurrences_at_the_same_time(siti, moment):
    details = {"sarapan": {"jam": "02:00"}, "selingan": {"jam": "02:00"}}
    meals = create(siti, {"tipe": "makan", "judul": "M", "details": details})
    moment.move(hours=1)
    for slot in ("selingan", "sarapan"):
        answer = meals.say("done", due_at="2026-03-02T02:00:00Z", slot=slot)
        assert (answer.json["slot"], answer.json["state"]) == (slot, "done")


def test_an_answer_can_be_changed_only_for_a_limited_time(metformin, moment):
    moment.move(hours=11, minutes=5)
    metformin.say("done")
    moment.move(hours=23)
    assert metformin.say("skipped", due_at=DUE_AT).json["state"] == "skipped"
    moment.move(hours=25)
    metformin.refuses("already_closed", "done", due_at=DUE_AT)
    assert ledger()[0] == "02 12:00 1 skipped"


def test_a_missed_dose_accepts_done_but_not_skipped_before_the_next_dose_is_due(metformin, moment):
    moment.elapse(hours=13)
    metformin.refuses("already_closed", "skipped")
    with undone():
        late = metformin.answer("done")
        assert (late["state"], late["late"], late["due_at"]) == ("done", True, DUE_AT)
    moment.move(hours=10)  # 00:00 UTC on the next day
    metformin.refuses("already_closed", "done", due_at=DUE_AT)
    assert metformin.say("done").json["due_at"] == "2026-03-03T00:00:00Z"


def test_answering_one_notice_of_a_visit_does_not_cancel_the_next_notice(visit, moment):
    moment.move(hours=2, minutes=1)
    assert visit.say("done").json["slot"] == "1d"
    assert waiting() == ["03 02:00"]
    assert not visit.is_done
    visit.put(is_done=True)
    assert waiting() == []


# --- snooze ---------------------------------------------------------------------------------------------------------


def test_a_snooze_queues_another_message_and_delays_the_missed_state(metformin, moment):
    moment.move(hours=11, minutes=5)
    answer = metformin.say("snooze").json
    assert (answer["state"], answer["snoozed_until"]) == ("pending", "2026-03-02T12:35:00Z")
    assert waiting()[0] == waiting("push_fan_out")[0] == "02 12:35"
    text = [each.get("text") for each in payloads("messaging")]
    assert text.count("Halo Siti, waktunya minum Metformin (0,5 tablet, setelah makan) pukul 19.00 WIB.") == 3
    moment.elapse(minutes=70)
    assert ledger()[0] == "02 12:00 1 pending"  # a dose is missed an hour after the end of its snooze
    moment.elapse(minutes=30)
    assert ledger()[0] == "02 12:00 1 missed"


def test_a_snooze_before_the_due_time_postpones_the_message(metformin, moment):
    moment.move(hours=10, minutes=30)
    assert metformin.say("snooze", minutes=20).json["snoozed_until"] == "2026-03-02T12:20:00Z"
    assert waiting() == ["02 12:20", "03 00:00", "03 12:00"]


def test_a_dose_can_be_snoozed_three_times_at_most(metformin, moment):
    moment.move(hours=11, minutes=1)
    for _ in range(3):
        assert metformin.say("snooze", minutes=5).status_code == 200
    metformin.refuses("cannot_snooze", "snooze", minutes=5)
    assert waiting()[0] == "02 12:06"


def test_a_snooze_must_end_before_the_next_occurrence_or_the_visit(siti, moment, obat, visit):
    medicine = create(siti, obat, **with_doses(obat, "01:10", "02:00"))
    moment.move(minutes=15)
    medicine.refuses("cannot_snooze", "snooze", minutes=45)
    assert medicine.say("snooze", minutes=44).json["snoozed_until"] == "2026-03-02T01:59:00Z"
    moment.move(hours=24, minutes=55)
    visit.refuses("cannot_snooze", "snooze", minutes=50)
    assert visit.say("snooze", minutes=30).json["slot"] == "1h"


def test_an_answer_cancels_a_snooze(metformin, moment):
    moment.move(hours=11, minutes=5)
    metformin.say("snooze")
    metformin.say("done")
    assert waiting() == ["03 00:00", "03 12:00", "04 00:00"]
    metformin.refuses("already_closed", "snooze")


def test_a_change_of_the_title_keeps_a_snooze(metformin, moment):
    moment.move(hours=11, minutes=5)
    metformin.say("snooze")
    metformin.put(judul="Gula darah")
    assert waiting()[0] == "02 12:35"
    moment.move(hours=11)  # it is 23:05 UTC, 55 minutes before the next dose
    metformin.say("snooze", minutes=15, due_at="2026-03-03T00:00:00Z")
    metformin.put(judul="Gula")
    assert "03 00:15" in waiting()
    assert "03 00:00" not in waiting()


# --- sessions and statements ----------------------------------------------------------------------------------------


def test_an_answer_with_a_session_that_is_too_old_is_refused(metformin, moment):
    moment.elapse(hours=11, minutes=5)
    session = db.session.scalars(sa.select(LoginSession)).one()
    session.expires_at -= timedelta(days=7, minutes=1)
    assert_error(metformin.say("done"), 401, "session_ended")
    assert ledger()[0] == "02 12:00 1 pending"
    session.expires_at += timedelta(hours=1)
    assert metformin.say("done").json["state"] == "done"


def test_an_answer_after_the_session_ended_is_401_despite_other_errors(metformin, siti_id, moment):
    moment.elapse(hours=11, minutes=5)
    sessions.end_all(siti_id)
    for data in ({"status": "done"}, {"status": "done", "due_at": DUE_AT}, {"status": "snooze"}, {"status": "ya"}, {}):
        for query in ("", "?patient_id=1", "?patient_id=entah"):
            answer = metformin.client.post(f"{metformin.path}/konfirmasi{query}", data)
            assert_error(answer, 401, "session_ended")
    assert ledger()[0] == "02 12:00 1 pending"


def test_an_answer_needs_at_most_five_statements_and_a_snooze_six(siti, moment, obat, statements):
    medicine = create(siti, obat, persediaan={"sisa": 5})
    moment.elapse(hours=11, minutes=5)
    for status, limit in (("snooze", 6), ("done", 5), ("skipped", 5), ("done", 5)):
        with statements.at_most(limit):  # a snooze needs one more statement, to enqueue its messages
            assert medicine.say(status).status_code == 200


def test_a_late_answer_needs_at_most_six_statements(metformin, moment, statements):
    moment.elapse(hours=12, minutes=5)
    with statements.at_most(6):
        assert metformin.say("done").json["late"]


def test_an_answer_by_message_needs_at_most_five_statements(metformin, moment, statements):
    moment.move(hours=11, minutes=5)
    payloads("messaging")
    db.session.execute(sa.update(Delivery).values(state="sent", settled_at=moment.now))
    db.session.commit()
    with statements.at_most(5), unit_of_work():  # one statement reads the last messages
        message_answers.answer(message_answers.read(metformin.client.id).times, QuickAnswer("done"))
    assert metformin.is_done


def test_a_time_without_a_zone_is_refused(siti, metformin, kontrol, moment):
    moment.move(hours=11, minutes=5)
    refused = metformin.say("done", due_at="2026-03-02T12:00:00")
    assert_error(refused, 400, "validation_error", "due_at")
    for change, field in (
        ({"waktu": "2026-03-09T05:00:00"}, "waktu"),
        ({"details": {"datetime": "2026-03-10T02:00:00"}}, "details.datetime"),
    ):
        assert_error(siti.post("/pengingat", {**kontrol, **change}), 400, "validation_error", field)
    assert ledger()[0] == "02 12:00 1 pending"
