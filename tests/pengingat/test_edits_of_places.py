"""Edits that give a time another place in the list of doses or sessions. The time keeps its row of the ledger."""

from tests.pengingat.answering import create, dose, with_doses
from tests.pengingat.ledgers import first_text, ledger, waiting


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
