"""Answers to occurrences: the chosen occurrence, the accepted answers and their effects."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.identity.models import LoginSession
from app.notifications.models import Delivery
from app.pengingat import jobs
from app.pengingat.ledger.schemas import QuickAnswer
from app.pengingat.one_tap import message_answers
from tests.helpers.client import assert_error
from tests.pengingat.answering import Reminder
from tests.pengingat.ledgers import ledger, waiting
from tests.pengingat.links import payloads


@pytest.fixture
def visit(siti, moment, kontrol):
    """Create an appointment with notices today at 03:00 UTC and tomorrow at 02:00 UTC."""
    return Reminder(siti, siti.post("/pengingat/", kontrol).json["id"])


def test_done_within_an_hour_before_a_dose_cancels_only_its_deliveries(metformin, moment):
    moment.move(hours=10, minutes=15)
    assert metformin.say("done").json["due_at"] == "2026-03-02T12:00:00Z"
    assert waiting() == waiting("push_fan_out") == ["03 00:00", "03 12:00"]
    assert metformin.is_done


def test_skipped_leaves_is_done_false(metformin, moment):
    moment.move(hours=11, minutes=5)
    assert metformin.say("skipped").json["state"] == "skipped"
    assert not metformin.is_done
    metformin.say("done")
    assert metformin.is_done
    metformin.say("skipped")
    assert not metformin.is_done


def test_the_slot_distinguishes_two_occurrences_at_the_same_time(siti, moment):
    details = {"sarapan": {"jam": "02:00"}, "selingan": {"jam": "02:00"}}
    sent = {"tipe": "makan", "judul": "M", "waktu": "2026-03-02T02:00:00Z", "details": details}
    meals = Reminder(siti, siti.post("/pengingat/", sent).json["id"])
    moment.move(hours=1)
    for slot in ("selingan", "sarapan"):
        answer = meals.say("done", due_at="2026-03-02T02:00:00Z", slot=slot)
        assert (answer.json["slot"], answer.json["state"]) == (slot, "done")


def test_repeating_an_answer_is_idempotent(metformin, moment):
    moment.move(hours=11, minutes=5)
    first = metformin.say("done").json
    moment.move(minutes=1)
    assert metformin.say("done").json == first


def test_an_answer_can_be_changed_only_for_a_limited_time(metformin, moment):
    moment.move(hours=11, minutes=5)
    due_at = metformin.say("done").json["due_at"]
    moment.move(hours=23)
    assert metformin.say("skipped", due_at=due_at).json["state"] == "skipped"
    moment.move(hours=25)
    assert_error(metformin.say("done", due_at=due_at), 409, "already_closed")
    assert ledger()[0] == "02 12:00 1 skipped"


def test_a_missed_dose_accepts_done_but_not_skipped_before_the_next_dose(metformin, moment):
    moment.move(hours=13)
    jobs.miss_overdue()
    assert_error(metformin.say("skipped"), 409, "already_closed")
    late = metformin.say("done").json
    assert (late["state"], late["late"], late["due_at"]) == ("done", True, "2026-03-02T12:00:00Z")


def test_a_missed_dose_cannot_be_answered_after_the_next_dose_is_due(metformin, moment):
    moment.move(hours=13)
    jobs.miss_overdue()
    moment.move(hours=10)  # 00:00 UTC on the next day
    assert_error(metformin.say("done", due_at="2026-03-02T12:00:00Z"), 409, "already_closed")
    assert metformin.say("done").json["due_at"] == "2026-03-03T00:00:00Z"


def test_answering_one_notice_of_a_visit_does_not_cancel_the_next_notice(visit, moment):
    moment.move(hours=2, minutes=1)
    assert visit.say("done").json["slot"] == "1d"
    assert waiting() == ["03 02:00"]
    assert not visit.is_done
    visit.client.put(f"/pengingat/{visit.id}", {"is_done": True})
    assert waiting() == []


# --- snooze ---------------------------------------------------------------------------------------------------------


def test_a_snooze_queues_another_message_and_delays_the_missed_state(metformin, moment):
    moment.move(hours=11, minutes=5)
    answer = metformin.say("snooze").json
    assert (answer["state"], answer["snoozed_until"]) == ("pending", "2026-03-02T12:35:00Z")
    assert waiting()[0] == waiting("push_fan_out")[0] == "02 12:35"
    text = [each.get("text") for each in payloads("messaging")]
    assert text.count("Halo Siti, waktunya minum Metformin (0,5 tablet, setelah makan) pukul 19.00 WIB.") == 3
    moment.move(minutes=70)
    jobs.miss_overdue()
    assert ledger()[0] == "02 12:00 1 pending"  # a dose is missed an hour after the end of its snooze
    moment.move(minutes=30)
    jobs.miss_overdue()
    assert ledger()[0] == "02 12:00 1 missed"


def test_a_snooze_before_the_due_time_postpones_the_message(metformin, moment):
    moment.move(hours=10, minutes=30)
    assert metformin.say("snooze", minutes=20).json["snoozed_until"] == "2026-03-02T12:20:00Z"
    assert waiting() == ["02 12:20", "03 00:00", "03 12:00"]


def test_a_dose_can_be_snoozed_three_times_at_most(metformin, moment):
    moment.move(hours=11, minutes=1)
    for _ in range(3):
        assert metformin.say("snooze", minutes=5).status_code == 200
    assert_error(metformin.say("snooze", minutes=5), 409, "cannot_snooze")
    assert waiting()[0] == "02 12:06"


def test_a_snooze_must_end_before_the_next_occurrence(siti, moment, obat):
    jadwal = [{"jam": jam, "jumlah": 1, "satuan": "tablet"} for jam in ("01:10", "02:00")]
    sent = {**obat, "details": {**obat["details"], "jadwal": jadwal}}
    reminder = Reminder(siti, siti.post("/pengingat/obat", sent).json["id"])
    moment.move(minutes=15)
    assert_error(reminder.say("snooze", minutes=45), 409, "cannot_snooze")
    assert reminder.say("snooze", minutes=44).json["snoozed_until"] == "2026-03-02T01:59:00Z"


def test_a_snooze_must_end_before_the_visit(visit, moment):
    moment.move(hours=25, minutes=10)
    assert_error(visit.say("snooze", minutes=50), 409, "cannot_snooze")
    assert visit.say("snooze", minutes=30).json["slot"] == "1h"


def test_an_answer_cancels_a_snooze(metformin, moment):
    moment.move(hours=11, minutes=5)
    metformin.say("snooze")
    metformin.say("done")
    assert waiting() == ["03 00:00", "03 12:00", "04 00:00"][: len(waiting())]
    assert "02 12:35" not in waiting()
    assert_error(metformin.say("snooze"), 409, "already_closed")


def test_a_change_of_the_title_keeps_a_snooze(metformin, moment):
    moment.move(hours=11, minutes=5)
    metformin.say("snooze")
    metformin.client.put(f"/pengingat/{metformin.id}", {"judul": "Gula darah"})
    assert waiting()[0] == "02 12:35"
    moment.move(hours=11)  # it is 23:05 UTC, 55 minutes before the next dose
    metformin.say("snooze", minutes=15, due_at="2026-03-03T00:00:00Z")
    metformin.client.put(f"/pengingat/{metformin.id}", {"judul": "Gula"})
    assert "03 00:15" in waiting()
    assert "03 00:00" not in waiting()


# --- refusals -------------------------------------------------------------------------------------------------------


def test_an_answer_with_a_session_that_is_too_old_is_refused(metformin, moment):
    moment.move(hours=11, minutes=5)
    jobs.top_up()
    session = db.session.scalars(sa.select(LoginSession)).one()
    session.expires_at -= timedelta(days=7, minutes=1)
    assert_error(metformin.say("done"), 401, "session_ended")
    assert ledger()[0] == "02 12:00 1 pending"
    session.expires_at += timedelta(hours=1)
    assert metformin.say("done").json["state"] == "done"


# --- statement counts -----------------------------------------------------------------------------------------------


def test_an_answer_needs_at_most_five_statements_and_a_snooze_six(metformin, moment, statements):
    moment.move(hours=11, minutes=5)
    jobs.top_up()
    for status, limit in (("snooze", 6), ("done", 5), ("skipped", 5), ("done", 5)):
        with statements.at_most(limit):  # a snooze needs one more statement, to enqueue its messages
            assert metformin.say(status).status_code == 200


def test_a_late_answer_needs_at_most_six_statements(metformin, moment, statements):
    moment.move(hours=12, minutes=5)
    jobs.miss_overdue()
    with statements.at_most(6):
        assert metformin.say("done").json["late"]


def test_an_answer_for_a_medicine_with_stock_needs_at_most_five_statements(siti, moment, obat, statements):
    obat["details"]["persediaan"] = {"sisa": 5}
    medicine = Reminder(siti, siti.post("/pengingat/obat", obat).json["id"])
    moment.move(hours=11, minutes=5)
    with statements.at_most(5):
        assert medicine.say("done").json["state"] == "done"


@pytest.mark.parametrize("is_push", [False, True])
def test_an_answer_by_link_or_push_needs_at_most_five_statements(metformin, moment, statements, is_push):
    moment.move(hours=11, minutes=5)
    words = payloads("push_fan_out" if is_push else "messaging")[0]
    token = words["token"] if is_push else words["parts"]["token"]
    with statements.at_most(5):  # one statement reads the token's occurrences
        answered = metformin.client.post(f"/konfirmasi/{token}", {"status": "done"})
    assert answered.json["state"] == "done"


def test_an_answer_by_message_needs_at_most_five_statements(metformin, moment, statements):
    moment.move(hours=11, minutes=5)
    payloads("messaging")
    db.session.execute(sa.update(Delivery).values(state="sent", settled_at=moment.now))
    db.session.commit()
    with statements.at_most(5), unit_of_work():  # one statement reads the last messages
        message_answers.answer(message_answers.read(metformin.client.id).times, QuickAnswer("done"))
    assert metformin.is_done
