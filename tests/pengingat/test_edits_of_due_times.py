"""Edits of a reminder. They cancel only times that lie ahead, and a time keeps its row if its place changes."""

import pytest

from app.core.database.session import db
from app.identity.models import User
from tests.pengingat.answering import create, dose, with_doses
from tests.pengingat.ledgers import caregiver_of, first_text, ledger, waiting
from tests.routes.requests import undone

DUE = "02 12:00 1"
DUE_AT = "2026-03-02T12:00:00Z"


@pytest.fixture
def each_edit(obat, subtests):
    """Iterate over the kinds of change that set a new schedule. Undo what the test did with each."""
    temporary = {"mulai": "2026-03-02", "selesai": "2026-03-05", "jadwal": [dose("21:00"), dose("11:00")]}
    edits = {
        "another dose is moved": {"details": with_doses(obat, "01:00", dose("12:00", 0.5))},
        "the due dose is moved": {"details": with_doses(obat, "00:00", dose("13:00", 0.5))},
        "the due dose is removed": {"details": with_doses(obat, "00:00")},
        "temporary doses": {"details": {**obat["details"], "jadwal_sementara": temporary}},
        "a later first day": {"details": {**obat["details"], "mulai": "2026-03-04"}},
        "an earlier last day": {"details": {**obat["details"], "selesai": "2026-03-01"}},
        "another time zone": {"timezone": "Asia/Jayapura"},
        "another type": {"tipe": "makan", "details": {"sarapan": {"jam": "23:00"}}},
    }

    def walk(check):
        for name, edit in edits.items():
            with subtests.test(name), undone():
                check(edit)

    return walk


@pytest.fixture
def due(metformin, moment):
    """Return a medicine whose dose fell due ten minutes ago, at 12:00 UTC."""
    moment.move(hours=11, minutes=10)
    return metformin


def test_a_due_dose_stays_open_and_is_still_asked_after_an_edit(due, each_edit):
    def check(edit):
        due.put(**edit)
        assert ledger()[0] == f"{DUE} pending"
        assert waiting()[0] == "02 12:00"
        assert "pukul " in first_text()
        assert due.say("done").json["due_at"] == DUE_AT
        assert due.say("done", due_at=DUE_AT).status_code == 200
        assert due.is_done
        due.say("undo")
        assert not due.is_done

    each_edit(check)


def test_is_done_answers_a_due_dose_after_an_edit(due, each_edit):
    def check(edit):
        due.put(**edit)
        due.put(is_done=True)
        assert (ledger()[0], due.is_done) == (f"{DUE} done", True)
        assert {row.rsplit(" ", 1)[1] for row in ledger()[1:]} <= {"pending", "void"}
        due.put(is_done=False)
        assert (ledger()[0], due.is_done) == (f"{DUE} pending", False)

    each_edit(check)


def test_is_done_that_was_sent_before_or_with_an_edit_answers_the_due_dose(due, each_edit):
    def check(edit):
        with undone():
            due.put(**edit, is_done=True)
            assert (ledger()[0], due.is_done) == (f"{DUE} done", True)
        due.answer("done")
        due.put(**edit)
        assert (ledger()[0], due.is_done) == (f"{DUE} done", True)

    each_edit(check)


def test_a_dose_that_was_removed_is_named_by_its_title_and_takes_no_stock(due, obat):
    due.put(details=with_doses(obat, "00:00", persediaan={"sisa": 10}))
    assert first_text() == "Halo Siti, waktunya Obat diabetes pukul 19.00 WIB."
    assert due.say("done").json["due_at"] == DUE_AT
    assert due.left == 10


def test_times_ahead_are_cancelled_by_an_edit(due, obat):
    due.put(details=with_doses(obat, "01:00", dose("12:00", 0.5)))
    assert "03 00:00 0 void" in ledger()
    assert waiting() == ["02 12:00", "03 01:00", "03 12:00"]


def test_an_answer_without_a_due_time_is_about_the_new_time(metformin, moment, obat):
    moment.move(hours=10, minutes=30)  # half an hour before the old time
    metformin.put(details=with_doses(obat, "00:00", dose("12:10", 0.5)))
    assert metformin.say("done").json["due_at"] == "2026-03-02T12:10:00Z"


def test_an_edit_by_a_caregiver_keeps_a_due_dose_open(due, siti, client, obat):
    caregiver = client.as_(db.session.get_one(User, caregiver_of(siti.id, "manage")))
    changes = {"details": with_doses(obat, "01:00", "12:00")}
    assert caregiver.put(f"{due.path}?patient_id={siti.id}", changes).status_code == 200
    assert ledger()[0] == f"{DUE} pending"


def test_a_missed_dose_of_yesterday_is_not_answered_instead_of_the_due_one(metformin, moment, obat):
    moment.elapse(hours=13)
    moment.move(hours=10, minutes=10)
    metformin.put(details=with_doses(obat, "00:00", "13:00"))
    assert metformin.say("done").json["due_at"] == "2026-03-03T00:00:00Z"
    assert ledger()[0] == f"{DUE} missed"


def test_a_dose_that_was_answered_early_counts_as_done_after_an_edit(metformin, moment, obat):
    moment.move(hours=10, minutes=30)
    metformin.say("done")
    metformin.put(details=with_doses(obat, "01:00", dose("12:00", 0.5)))
    assert metformin.is_done
    moment.move(hours=2)
    assert metformin.is_done


@pytest.mark.parametrize(
    "offsets", [[{"offset": "1h"}], []], ids=["the notice is removed", "the notice is at the visit"]
)
def test_a_due_notice_of_a_visit_stays_open_after_an_edit(siti, moment, kontrol, offsets):
    visit = create(siti, kontrol)
    moment.move(hours=2, minutes=5)
    visit.put(details={**kontrol["details"], "reminder_offsets": offsets})
    assert ledger()[0] == "02 03:00 1d pending"
    assert visit.say("done").json["slot"] == "1d"


def test_is_done_of_a_visit_answers_its_due_notice_after_an_edit(siti, moment, kontrol):
    visit = create(siti, kontrol)
    moment.move(hours=2, minutes=5)
    visit.put(details={**kontrol["details"], "reminder_offsets": [{"offset": "1h"}]})
    visit.put(is_done=True)
    assert (ledger()[0], visit.is_done) == ("02 03:00 1d done", True)
    assert waiting() == []
    visit.say("undo")
    assert (ledger()[0], visit.is_done) == ("02 03:00 1d pending", False)
    assert waiting()[-1] == "03 02:00"


def test_a_due_session_without_a_repeat_stays_open_if_it_is_moved(siti, moment):
    sent = {"tipe": "terapi", "judul": "Fisioterapi", "waktu": "2026-03-02T03:00:00Z", "details": {}}
    session = create(siti, sent)
    moment.move(hours=2, minutes=5)
    session.put(waktu="2026-03-03T03:00:00Z")
    assert ledger() == ["02 03:00 0 pending", "03 03:00 0 pending"]
    assert session.say("done").json["due_at"] == "2026-03-02T03:00:00Z"


# --- edits that give a time another place in the list: it keeps its row -----------------------------------------------


def medicine(siti, obat, **fields):
    """Return a medicine with 1 tablet at 00:00 UTC and 2 tablets at 12:00 UTC."""
    return create(siti, obat, **with_doses(obat, "00:00", dose("12:00", 2), **fields))


def test_a_dose_that_was_taken_early_is_not_asked_for_again(siti, moment, obat):
    reminder = medicine(siti, obat)
    moment.move(hours=10, minutes=30)
    reminder.say("done")
    reminder.put(details=with_doses(obat, dose("12:00", 2), "20:00"))
    assert ledger()[:2] == ["02 12:00 0 done", "02 20:00 1 pending"]
    assert waiting()[0] == "02 20:00"
    reminder.put(details=with_doses(obat, "00:00", dose("12:00", 2)))
    assert ledger()[0] == "02 12:00 1 done"
    assert waiting()[0] == "03 00:00"


def test_a_due_dose_keeps_its_amount(siti, moment, obat):
    reminder = medicine(siti, obat, persediaan={"sisa": 100})
    moment.move(hours=11, minutes=10)
    reminder.put(details=with_doses(obat, dose("12:00", 2), "20:00", persediaan={"sisa": 100}))
    assert "(2 tablet," in first_text()
    (row,) = siti.get("/pengingat/hari-ini").json[:1]
    assert (row["slot"], row["what"].partition(",")[0]) == ("0", "2 tablet")
    assert reminder.say("done").json["slot"] == "0"
    assert reminder.left == 98


def test_a_coming_dose_keeps_its_row(siti, moment, obat):
    reminder = medicine(siti, obat)
    reminder.put(details=with_doses(obat, dose("12:00", 2), "20:00"))
    assert [row for row in ledger() if " 12:00 " in row] == ["02 12:00 0 pending", "03 12:00 0 pending"]
    assert waiting()[:2] == ["02 12:00", "02 20:00"]


def test_a_session_that_was_answered_early_is_not_asked_for_again(siti, moment):
    def session(day, jam):
        return {"hari": day, "jam": jam}

    details = {"jadwal": [session("selasa", "03:00"), session("senin", "03:00")]}
    reminder = create(siti, {"tipe": "terapi", "judul": "Fisioterapi", "details": details})
    moment.move(hours=1, minutes=30)
    assert reminder.say("done").json["slot"] == "1"
    reminder.put(details={"jadwal": details["jadwal"][::-1]})
    assert ledger() == ["02 03:00 0 done", "03 03:00 1 pending"]


def test_a_coming_dose_keeps_its_snooze_after_an_edit(siti, moment, obat):
    reminder = medicine(siti, obat)
    moment.move(hours=10, minutes=30)
    assert reminder.say("snooze", minutes=20).status_code == 200
    reminder.put(details=with_doses(obat, dose("12:00", 2), "20:00"))
    assert waiting()[:2] == ["02 12:20", "02 20:00"]
