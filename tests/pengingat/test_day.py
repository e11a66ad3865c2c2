"""List of all due times of one day (GET /pengingat/hari-ini)."""

from datetime import timedelta

import pytest

from app.core.lib import local_time
from tests.helpers.client import assert_error
from tests.pengingat.answering import create, with_doses
from tests.pengingat.ledgers import NOW, past
from tests.routes.requests import undone


def make(siti, tipe, details):
    return create(siti, {"tipe": tipe, "judul": f"Judul {tipe}", "details": details})


def day(siti, date=""):
    return siti.get("/pengingat/hari-ini" + (f"?date={date}" if date else "")).ok()


def times(siti, date=""):
    return [f"{row['local_time']} {row['slot']} {row['state']}" for row in day(siti, date)]


def test_a_row_shows_the_dose_and_its_answer(metformin, moment):
    moment.move(hours=11, minutes=5)
    (row,) = day(metformin.client)
    assert row == {
        "pengingat_id": metformin.id, "tipe": "obat", "judul": "Obat diabetes", "what": "0,5 tablet, setelah makan",
        "slot": "1", "due_at": "2026-03-02T12:00:00Z", "local_time": "19:00", "state": "pending", "late": False,
        "answered_at": None, "answered_via": None, "snoozed_until": None, "undelivered": False, "can_answer": True,
    }  # fmt: skip
    metformin.say("done")
    done = {"state": "done", "answered_at": "2026-03-02T12:05:00Z", "answered_via": "app", "can_answer": False}
    assert day(metformin.client) == [{**row, **done}]


def test_reminders_of_all_types_are_listed_in_order_of_time(siti, moment, obat):
    session = {"hari": "selasa", "jam": "00:00"}
    visit = {"datetime": "2026-03-04T02:30:00Z", "nama_dokter": "dr. Ani", "offsets": [{"offset": "1d"}]}
    make(siti, "terapi", {"jenis_terapi": "Fisioterapi", "jadwal": [{**session, "hari": "senin"}, session]})
    siti.post("/pengingat/obat", obat)
    breakfast = {"jam": "00:00", "karbohidrat": "oatmeal", "serat": "apel"}
    make(siti, "makan", {"sarapan": breakfast, "selingan": {"jam": "09:00"}})
    make(siti, "kontrol", visit)
    rows = day(siti, "2026-03-03")
    assert [(row["local_time"], row["tipe"], row["slot"], row["what"]) for row in rows] == [
        ("07:00", "terapi", "1", "Fisioterapi"),
        ("07:00", "obat", "0", "1 tablet, setelah makan"),
        ("07:00", "makan", "sarapan", "sarapan: oatmeal, apel"),
        ("09:30", "kontrol", "1d", "dr. Ani"),  # notice one day before the appointment on the 4th
        ("16:00", "makan", "selingan", "makan selingan"),
        ("19:00", "obat", "1", "0,5 tablet, setelah makan"),
    ]
    assert rows[3]["due_at"] == "2026-03-03T02:30:00Z"


@pytest.mark.parametrize(
    ("zone", "shown"),
    [
        ("Asia/Jakarta", ["07:00 0 pending", "19:00 1 pending"]),
        ("Pacific/Pago_Pago", ["13:00 0 pending"]),  # it is still Sunday in this zone
        ("Pacific/Kiritimati", ["14:00 0 pending"]),
    ],
)
def test_today_is_determined_by_the_time_zone_of_the_reminder(siti, moment, obat, zone, shown):
    moment.move(hours=-2)
    siti.post("/pengingat/obat", {**obat, "timezone": zone})
    moment.move(hours=2)
    assert times(siti) == shown


def test_each_dose_is_listed_once_while_the_ledger_is_topped_up(metformin, moment):
    metformin.put(is_done=True)
    for _ in range(15):
        moment.elapse(hours=6)
        here = moment.now.astimezone(local_time.JAKARTA).date()
        for date in (here, here + timedelta(days=1)):
            if date > NOW.date():
                assert [each[:7] for each in times(metformin.client, f"{date}")] == ["07:00 0", "19:00 1"]


def test_a_visit_that_is_done_lists_no_later_notice(siti, moment):
    offsets = [{"offset": "1h"}, {"offset": "1d"}]
    visit = make(siti, "kontrol", {"datetime": "2026-03-03T02:30:00Z", "offsets": offsets})
    assert times(siti, "2026-03-02") == ["09:30 1d pending"]
    visit.put(is_done=True)
    assert times(siti, "2026-03-02") == ["09:30 1d done"]
    assert times(siti, "2026-03-03") == []


def test_a_dose_removed_by_an_edit_is_not_listed(metformin, obat):
    metformin.put(details=with_doses(obat, "05:00"))
    assert times(metformin.client) == ["12:00 0 pending"]


def test_past_doses_of_a_deleted_reminder_are_still_listed(siti, moment, obat):
    medicine = create(siti, {**obat, "timezone": "Asia/Jayapura"})
    moment.move(hours=11, minutes=5)
    medicine.say("done")
    siti.delete(f"/pengingat/{medicine.id}")
    (row,) = day(siti)
    assert (row["pengingat_id"], row["judul"], row["what"]) == (None, "Obat diabetes", "")
    assert (row["local_time"], row["state"], row["can_answer"]) == ("21:00", "done", False)
    assert day(siti, "2026-03-03") == []


def test_a_changed_title_is_shown_for_a_dose_that_is_already_due(metformin, moment):
    moment.move(hours=11, minutes=5)
    metformin.put(judul="Obat gula")
    assert [row["judul"] for row in day(metformin.client)] == ["Obat gula"]


def test_can_answer_agrees_with_the_result_of_an_answer(siti, moment, obat):
    details = {"jadwal": [{"hari": "senin", "jam": "02:00"}, {"hari": "rabu", "jam": "02:00"}]}
    answered = create(siti, obat)
    others = [
        create(siti, obat),
        make(siti, "terapi", details),
        make(siti, "kontrol", {"datetime": "2026-03-04T02:30:00Z", "offsets": [{"offset": "1d"}]}),
    ]
    by_id = {reminder.id: reminder for reminder in (answered, *others)}
    seen = set()
    for step in range(13):
        moment.elapse(hours=4, minutes=54)
        if step % 2 == 0:
            answered.say(("done", "skipped", "snooze")[step // 2 % 3])
        here = moment.now.astimezone(local_time.JAKARTA).date()
        for row in (*day(siti, f"{here - timedelta(days=1)}"), *day(siti, f"{here}")):
            can_answer = row["can_answer"]
            seen.add((row["state"], can_answer))
            with undone():
                answer = by_id[row["pengingat_id"]].say("done", due_at=row["due_at"], slot=row["slot"])
                has_changed = answer.status_code == 200 and row["state"] != "done"
                assert has_changed == can_answer, (row, answer.json)
    assert {("pending", True), ("pending", False), ("missed", True), ("missed", False), ("done", False)} <= seen


def test_the_day_may_be_from_92_days_back_to_tomorrow(siti, metformin):
    for date in ("2025-11-30", "2026-03-03"):
        day(siti, date)
    for wrong in ("2025-11-29", "2026-03-04", "9999-12-31", "0001-01-01", "20260302", "2026-W10-1"):
        assert_error(siti.get(f"/pengingat/hari-ini?date={wrong}"), 400, field="date")


def test_at_most_a_hundred_rows(siti, siti_id, moment):
    for n in range(130):
        past(siti_id, 20, "done", slot=f"{n:03}")
    assert [row["slot"] for row in day(siti, "2026-02-20")] == [f"{n:03}" for n in range(100)]
