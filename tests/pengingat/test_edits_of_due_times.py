"""Edits of a reminder while one of its times is due. An edit cancels only times that lie ahead."""

import pytest

from app.core.database.session import db
from app.identity.models import User
from app.pengingat import jobs
from tests.pengingat.answering import Reminder
from tests.pengingat.edits import dose, first_text, put, with_doses
from tests.pengingat.ledgers import caregiver_of, ledger, waiting

DUE = "02 12:00 1"
DUE_AT = "2026-03-02T12:00:00Z"


EDITS = (
    "another dose is moved",
    "the due dose is moved",
    "the due dose is removed",
    "temporary doses",
    "a later first day",
    "an earlier last day",
    "another time zone",
    "another type",
)


def edits(obat):
    """Return the body of each kind of change that sets a new schedule."""
    temporary = {"mulai": "2026-03-02", "selesai": "2026-03-05", "jadwal": [dose("21:00"), dose("11:00")]}
    return {
        "another dose is moved": {"details": with_doses(obat, dose("01:00"), dose("12:00", 0.5))},
        "the due dose is moved": {"details": with_doses(obat, dose("00:00"), dose("13:00", 0.5))},
        "the due dose is removed": {"details": with_doses(obat, dose("00:00"))},
        "temporary doses": {"details": {**obat["details"], "jadwal_sementara": temporary}},
        "a later first day": {"details": {**obat["details"], "mulai": "2026-03-04"}},
        "an earlier last day": {"details": {**obat["details"], "selesai": "2026-03-01"}},
        "another time zone": {"timezone": "Asia/Jayapura"},
        "another type": {"tipe": "makan", "details": {"sarapan": {"jam": "23:00"}}},
    }


@pytest.fixture(params=EDITS)
def edit(request, obat):
    return edits(obat)[request.param]


@pytest.fixture
def due(metformin, moment):
    """Return a medicine whose dose fell due ten minutes ago, at 12:00 UTC."""
    moment.move(hours=11, minutes=10)
    return metformin


def test_a_due_dose_stays_open_after_an_edit(due, edit):
    put(due.client, due, edit)
    assert ledger()[0] == f"{DUE} pending"
    assert due.say("done").json["due_at"] == DUE_AT
    assert due.say("done", due_at=DUE_AT).status_code == 200


def test_the_message_of_a_due_dose_is_still_sent_after_an_edit(due, edit):
    put(due.client, due, edit)
    assert waiting()[0] == "02 12:00"
    assert "pukul " in first_text()


def test_a_dose_that_was_removed_is_named_by_its_title_and_takes_no_stock(siti, moment, obat):
    created = siti.post("/pengingat/obat", obat).json
    reminder = Reminder(siti, created["id"])
    moment.move(hours=11, minutes=10)
    put(siti, reminder, {"details": with_doses(obat, dose("00:00"), persediaan={"sisa": 10})})
    assert first_text() == "Halo Siti, waktunya Obat diabetes pukul 19.00 WIB."
    assert reminder.say("done").json["due_at"] == DUE_AT
    assert siti.get(f"/pengingat/{reminder.id}").json["details"]["persediaan"]["sisa"] == 10


def test_times_ahead_are_cancelled_by_an_edit(due, obat):
    put(due.client, due, {"details": with_doses(obat, dose("01:00"), dose("12:00", 0.5))})
    assert "03 00:00 0 void" in ledger()
    assert waiting() == ["02 12:00", "03 01:00", "03 12:00"]


def test_an_edit_by_a_caregiver_keeps_a_due_dose_open(due, siti, client, obat):
    caregiver = client.as_(db.session.get_one(User, caregiver_of(siti.id, "manage")))
    put(caregiver, due, {"details": with_doses(obat, dose("01:00"), dose("12:00"))}, f"?patient_id={siti.id}")
    assert ledger()[0] == f"{DUE} pending"


def test_a_missed_dose_of_yesterday_is_not_answered_instead_of_the_due_one(metformin, moment, obat):
    moment.move(hours=13)
    jobs.miss_overdue()
    moment.move(hours=10, minutes=10)
    put(metformin.client, metformin, {"details": with_doses(obat, dose("00:00"), dose("13:00"))})
    assert metformin.say("done").json["due_at"] == "2026-03-03T00:00:00Z"
    assert ledger()[0] == f"{DUE} missed"


@pytest.mark.parametrize(
    "offsets", [[{"offset": "1h"}], []], ids=["the notice is removed", "the notice is at the visit"]
)
def test_a_due_notice_of_a_visit_stays_open_after_an_edit(siti, moment, kontrol, offsets):
    visit = Reminder(siti, siti.post("/pengingat", kontrol).json["id"])
    moment.move(hours=2, minutes=5)
    put(siti, visit, {"details": {**kontrol["details"], "reminder_offsets": offsets}})
    assert ledger()[0] == "02 03:00 1d pending"
    assert visit.say("done").json["slot"] == "1d"


def test_a_due_session_without_a_repeat_stays_open_if_it_is_moved(siti, moment):
    sent = {"tipe": "terapi", "judul": "Fisioterapi", "waktu": "2026-03-02T03:00:00Z", "details": {}}
    session = Reminder(siti, siti.post("/pengingat", sent).json["id"])
    moment.move(hours=2, minutes=5)
    put(siti, session, {"waktu": "2026-03-03T03:00:00Z"})
    assert ledger() == ["02 03:00 0 pending", "03 03:00 0 pending"]
    assert session.say("done").json["due_at"] == "2026-03-02T03:00:00Z"


def is_done(reminder):
    return bool(reminder.client.get(f"/pengingat/{reminder.id}").json["is_done"])


def test_is_done_answers_a_due_dose_after_an_edit(due, edit):
    put(due.client, due, edit)
    put(due.client, due, {"is_done": True})
    assert (ledger()[0], is_done(due)) == (f"{DUE} done", True)
    assert {row.rsplit(" ", 1)[1] for row in ledger()[1:]} <= {"pending", "void"}
    put(due.client, due, {"is_done": False})
    assert (ledger()[0], is_done(due)) == (f"{DUE} pending", False)


def test_is_done_that_is_sent_with_an_edit_answers_the_due_dose(due, edit):
    put(due.client, due, {**edit, "is_done": True})
    assert (ledger()[0], is_done(due)) == (f"{DUE} done", True)


def test_an_answer_to_a_due_dose_after_an_edit_counts_as_done(due, edit):
    put(due.client, due, edit)
    due.say("done")
    assert is_done(due)
    due.say("undo")
    assert not is_done(due)


def test_a_reminder_that_is_done_stays_done_after_an_edit(due, edit):
    due.say("done")
    put(due.client, due, edit)
    assert is_done(due)


def test_a_dose_that_was_answered_early_counts_as_done_after_an_edit(metformin, moment, obat):
    moment.move(hours=10, minutes=30)
    metformin.say("done")
    put(metformin.client, metformin, {"details": with_doses(obat, dose("01:00"), dose("12:00", 0.5))})
    assert is_done(metformin)
    moment.move(hours=2)
    assert is_done(metformin)


def test_is_done_of_a_visit_answers_its_due_notice_after_an_edit(siti, moment, kontrol):
    visit = Reminder(siti, siti.post("/pengingat", kontrol).json["id"])
    moment.move(hours=2, minutes=5)
    put(siti, visit, {"details": {**kontrol["details"], "reminder_offsets": [{"offset": "1h"}]}})
    put(siti, visit, {"is_done": True})
    assert (ledger()[0], is_done(visit)) == ("02 03:00 1d done", True)
    assert waiting() == []
    visit.say("undo")
    assert (ledger()[0], is_done(visit)) == ("02 03:00 1d pending", False)
    assert waiting()[-1] == "03 02:00"
