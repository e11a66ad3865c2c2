"""Limits: at most 100 reminders of a person, and at most 60 due times on one day."""

from dataclasses import replace
from datetime import time, timedelta
from zoneinfo import ZoneInfo

import pytest

from app.pengingat.timetable import limits
from app.pengingat.timetable.limits import MAX_REMINDERS, on_busiest_day
from app.pengingat.timetable.schedule import Schedule, Slot
from tests.helpers.client import assert_error
from tests.pengingat.ledgers import NOW, waiting

JAKARTA = ZoneInfo("Asia/Jakarta")
#: Date of NOW, a Monday.
TODAY = NOW.astimezone(JAKARTA).date()


def daily(count=1):
    return Schedule(JAKARTA, slots=tuple(Slot(str(n), time(7, n)) for n in range(count)))


def weekly(*weekdays):
    return Schedule(JAKARTA, slots=tuple(Slot(str(n), time(8, n), day) for n, day in enumerate(weekdays)))


def once(days, *before, zone="Asia/Jakarta"):
    return Schedule(ZoneInfo(zone), single_at=NOW + timedelta(days=days), lead_offsets=before)


@pytest.mark.parametrize(
    ("schedule", "most"),
    [
        (daily(3), 3),
        (weekly(0, 0, 3), 2),
        (once(1), 1),
        (once(-1), 0),
        (once(2, "1d", "1h"), 1),
        (once(0.7, "1d", "1h"), 2),  # at 00.48 in Jakarta: both notices are on the day before
        (replace(daily(2), last=TODAY + timedelta(days=1)), 2),
        (replace(daily(2), last=TODAY - timedelta(days=1)), 0),
        (None, 0),
    ],
)
def test_a_reminder_counts_as_often_as_it_is_due_on_its_busiest_day(schedule, most):
    assert on_busiest_day(schedule, NOW) == most


def medicine(doses=3, **more):
    jadwal = [{"jam": f"{n:02d}:00", "jumlah": 1, "satuan": "tablet"} for n in range(doses)]
    details = {"nama_obat": "Metformin", "frekuensi": doses, "aturan": "saat makan", "jadwal": jadwal, **more}
    return {"tipe": "obat", "judul": "Obat", "details": details}


def visit(day):
    waktu = NOW + timedelta(days=day)
    return {"tipe": "kontrol", "judul": "Kontrol", "waktu": waktu.isoformat(), "details": {}}


def sessions(count, weekday="selasa"):
    jadwal = [{"hari": weekday, "jam": f"{n % 24:02d}:{n // 24:02d}"} for n in range(count)]
    return {"tipe": "terapi", "judul": "Terapi", "waktu": NOW.isoformat(), "details": {"jadwal": jadwal}}


def fill(client, *reminders):
    for reminder in reminders:
        response = client.post("/pengingat", {"timezone": "UTC", **reminder})
        assert response.status_code == 201, response.json
    return response.json["id"]


def test_a_reminder_over_the_limit_of_a_person_is_refused(siti, moment):
    last = fill(siti, *(visit(-day) for day in range(MAX_REMINDERS)))
    refused = siti.post("/pengingat", visit(1))
    assert_error(refused, 409, "too_many_reminders")
    assert refused.json["message"] == "Anda sudah memiliki 100 pengingat. Hapus pengingat yang tidak diperlukan lagi."
    assert_error(siti.post("/pengingat/obat", medicine()), 409, "too_many_reminders")
    assert siti.put(f"/pengingat/{last}", {"judul": "Lain"}).status_code == 200
    siti.delete(f"/pengingat/{last}")
    fill(siti, visit(1))


def test_a_due_time_over_the_daily_limit_is_refused(siti, moment):
    fill(siti, *[medicine()] * 20)
    before = waiting()
    refused = siti.post("/pengingat/obat", medicine(1))
    assert_error(refused, 409, "too_many_reminders")
    assert refused.json["message"] == (
        "Pengingat Anda terlalu banyak dalam satu hari, paling banyak 60. Kurangi jadwalnya, atau hapus pengingat lain."
    )
    assert waiting() == before
    assert len(siti.get("/pengingat").json) == 20


@pytest.mark.parametrize(
    ("there", "more", "status"),
    [
        ([medicine()] * 19, sessions(3), 201),
        ([medicine()] * 19, sessions(4), 409),
        ([sessions(50), sessions(9)], visit(2), 201),
        ([sessions(50), sessions(10)], visit(2), 409),  # the appointment is on another day, and counts too
        ([sessions(50), sessions(10), visit(-1)], visit(-2), 201),  # an appointment of the past counts for nothing
        ([medicine(selesai="2026-03-01")] * 20, medicine(), 201),
    ],
)
def test_the_limit_of_a_day_is_the_sum_of_the_busiest_days(siti, moment, there, more, status):
    fill(siti, *there)
    assert siti.post("/pengingat", {"timezone": "UTC", **more}).status_code == status


def test_an_edit_that_exceeds_the_daily_limit_is_refused(siti, moment):
    fill(siti, *[medicine()] * 19)
    last = fill(siti, medicine(2))
    path = f"/pengingat/{last}"
    fill(siti, medicine(1))
    before = siti.get(path).json
    assert_error(siti.put(path, {"details": medicine(3)["details"]}), 409, "too_many_reminders")
    assert siti.get(path).json == before
    other = medicine(2, nama_obat="Insulin")["details"]
    assert siti.put(path, {"details": other}).status_code == 200
    assert siti.put(path, {"details": medicine(1)["details"], "is_done": True}).status_code == 200


def test_a_done_appointment_does_not_count_and_cannot_reopen_over_the_limit(siti, moment):
    fill(siti, *[medicine()] * 19, medicine(2))
    path = f"/pengingat/{fill(siti, visit(1))}"
    assert_error(siti.post("/pengingat", visit(1)), 409, "too_many_reminders")
    assert siti.put(path, {"is_done": True}).status_code == 200
    fill(siti, visit(1))
    assert_error(siti.put(path, {"is_done": False}), 409, "too_many_reminders")
    assert siti.get(path).json["is_done"] is True


def test_reminders_over_a_lowered_limit_can_be_edited_but_not_increased(siti, moment, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(limits, "MAX_PER_DAY", 1000)
        patch.setattr(limits, "MAX_REMINDERS", 1000)
        last = fill(siti, *[medicine()] * 30, *(visit(-day) for day in range(1, 80)), medicine(3))
    path = f"/pengingat/{last}"
    assert siti.put(path, {"judul": "Lain", "details": medicine(3, nama_obat="Lain")["details"]}).status_code == 200
    assert siti.put(path, {"is_done": True}).status_code == 200
    assert siti.put(path, {"timezone": "Asia/Jayapura"}).status_code == 200
    assert siti.put(path, {"details": medicine(2)["details"]}).status_code == 200
    assert_error(siti.put(path, {"details": medicine(3)["details"]}), 409, "too_many_reminders")
    assert_error(siti.post("/pengingat", visit(200)), 409, "too_many_reminders")


def test_the_number_of_statements_does_not_grow_with_the_reminders(siti, moment, statements):
    path = f"/pengingat/{fill(siti, medicine(2))}"
    counts = []
    for _ in range(2):
        before = len(statements.seen)
        fill(siti, medicine(1))
        siti.put(path, {"details": medicine(1)["details"]})
        siti.put(path, {"details": medicine(2)["details"]})
        counts.append(len(statements.seen) - before)
        fill(siti, *(visit(day) for day in range(1, 25)))
    assert counts[0] == counts[1]
