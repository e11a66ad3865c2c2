"""Limits: reminders of a person, due times on one day, and changes in a minute."""

from dataclasses import replace
from datetime import time, timedelta
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.pengingat.models import Pengingat
from app.pengingat.timetable import limits
from app.pengingat.timetable.limits import MAX_REMINDERS, on_busiest_day
from app.pengingat.timetable.schedule import Schedule, Slot
from tests.helpers.client import assert_error
from tests.pengingat.ledgers import NOW, waiting
from tests.routes.requests import undone

JAKARTA = ZoneInfo("Asia/Jakarta")
#: Date of NOW, a Monday.
TODAY = NOW.astimezone(JAKARTA).date()
COLUMNS = [column for column in Pengingat.__table__.c if column.name != "id"]


def daily(count=1):
    return Schedule(JAKARTA, slots=tuple(Slot(str(n), time(7, n)) for n in range(count)))


def weekly(*weekdays):
    return Schedule(JAKARTA, slots=tuple(Slot(str(n), time(8, n), day) for n, day in enumerate(weekdays)))


def once(days, *before, zone="Asia/Jakarta"):
    return Schedule(ZoneInfo(zone), single_at=NOW + timedelta(days=days), lead_offsets=before)


def test_a_reminder_counts_as_often_as_it_is_due_on_its_busiest_day(subtests):
    for schedule, most in (
        (daily(3), 3),
        (weekly(0, 0, 3), 2),
        (once(1), 1),
        (once(-1), 0),
        (once(2, "1d", "1h"), 1),
        (once(0.7, "1d", "1h"), 2),  # at 00.48 in Jakarta: both notices are on the day before
        (replace(daily(2), last=TODAY + timedelta(days=1)), 2),
        (replace(daily(2), last=TODAY - timedelta(days=1)), 0),
        (None, 0),
    ):
        with subtests.test(str(schedule)):
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


def fill(client, reminder, count=1):
    """Create a reminder, and copies of its row until there are `count`. Return the path of the reminder."""
    id_ = client.post("/pengingat", {"timezone": "UTC", **reminder}).ok(201)["id"]
    copy = sa.select(*COLUMNS).join(sa.func.generate_series(2, count).alias("n"), sa.true()).filter_by(id=id_)
    db.session.execute(sa.insert(Pengingat).from_select(COLUMNS, copy))
    return f"/pengingat/{id_}"


def test_a_reminder_over_the_limit_of_a_person_is_refused(siti, moment):
    path = fill(siti, visit(-1), MAX_REMINDERS)
    refused = siti.post("/pengingat", visit(1))
    assert_error(refused, 409, "too_many_reminders")
    assert refused.json["message"] == "Anda sudah memiliki 100 pengingat. Hapus pengingat yang tidak diperlukan lagi."
    assert_error(siti.post("/pengingat/obat", medicine()), 409, "too_many_reminders")
    assert siti.put(path, {"judul": "Lain"}).status_code == 200
    siti.delete(path)
    fill(siti, visit(1))


def test_a_due_time_over_the_daily_limit_is_refused(siti, moment):
    fill(siti, medicine(), 20)
    before = waiting()
    refused = siti.post("/pengingat/obat", medicine(1))
    assert_error(refused, 409, "too_many_reminders")
    assert refused.json["message"] == (
        "Pengingat Anda terlalu banyak dalam satu hari, paling banyak 60. Kurangi jadwalnya, atau hapus pengingat lain."
    )
    assert waiting() == before
    assert len(siti.get("/pengingat").json) == 20


def test_the_limit_of_a_day_is_the_sum_of_the_busiest_days(siti, moment, subtests):
    full = [(sessions(50), 1), (sessions(10), 1)]
    for there, more, status in (
        ([(medicine(), 19)], sessions(3), 201),
        ([(medicine(), 19)], sessions(4), 409),
        ([(sessions(50), 1), (sessions(9), 1)], visit(2), 201),
        (full, visit(2), 409),  # the appointment is on another day, and counts too
        ([*full, (visit(-1), 1)], visit(-2), 201),  # an appointment of the past counts for nothing
        ([(medicine(selesai="2026-03-01"), 20)], medicine(), 201),
    ):
        with subtests.test(more["judul"], there=len(there), status=status), undone():
            for reminder, count in there:
                fill(siti, reminder, count)
            refused = siti.post("/pengingat", {"timezone": "UTC", **more})
            assert refused.status_code == status, refused.json


def test_an_edit_that_exceeds_the_daily_limit_is_refused(siti, moment):
    fill(siti, medicine(), 19)
    path = fill(siti, medicine(2))
    fill(siti, medicine(1))
    before = siti.get(path).json
    assert_error(siti.put(path, {"details": medicine(3)["details"]}), 409, "too_many_reminders")
    assert siti.get(path).json == before
    other = medicine(2, nama_obat="Insulin")["details"]
    assert siti.put(path, {"details": other}).status_code == 200
    assert siti.put(path, {"details": medicine(1)["details"], "is_done": True}).status_code == 200


def test_a_done_appointment_does_not_count_and_cannot_reopen_over_the_limit(siti, moment):
    fill(siti, medicine(), 19)
    fill(siti, medicine(2))
    path = fill(siti, visit(1))
    assert_error(siti.post("/pengingat", visit(1)), 409, "too_many_reminders")
    assert siti.put(path, {"is_done": True}).status_code == 200
    fill(siti, visit(1))
    assert_error(siti.put(path, {"is_done": False}), 409, "too_many_reminders")
    assert siti.get(path).json["is_done"] is True


def test_reminders_over_a_lowered_limit_can_be_edited_but_not_increased(siti, moment, monkeypatch):
    path = fill(siti, medicine(3))
    fill(siti, medicine())
    fill(siti, visit(-1))
    monkeypatch.setattr(limits, "MAX_PER_DAY", 4)
    monkeypatch.setattr(limits, "MAX_REMINDERS", 2)
    for change in (
        {"judul": "Lain", "details": medicine(3, nama_obat="Lain")["details"]},
        {"is_done": True},
        {"timezone": "Asia/Jayapura"},
        {"details": medicine(2)["details"]},
    ):
        assert siti.put(path, change).status_code == 200
    assert_error(siti.put(path, {"details": medicine(3)["details"]}), 409, "too_many_reminders")
    assert_error(siti.post("/pengingat", visit(200)), 409, "too_many_reminders")


def test_the_number_of_statements_does_not_grow_with_the_reminders(siti, moment, statements):
    path = fill(siti, medicine(2))
    counts = []
    for _ in range(2):
        before = len(statements.seen)
        assert siti.post("/pengingat/obat", medicine(1)).status_code == 201
        siti.put(path, {"details": medicine(1)["details"]})
        siti.put(path, {"details": medicine(2)["details"]})
        counts.append(len(statements.seen) - before)
        fill(siti, visit(1), 24)
    assert counts[0] == counts[1]


# --- rate limit, whose numbers are in tests/routes/limits.py ----------------------------------------------------------


@pytest.mark.usefixtures("limited")
def test_changes_share_one_rate_limit_even_if_refused_and_answers_count_apart(siti, budi, moment, obat):
    path = f"/pengingat/{siti.post('/pengingat/obat', obat).json['id']}"
    assert siti.delete(path).status_code == 200
    for _ in range(58):
        assert siti.put(path, {"judul": "x"}).status_code == 404
    for method, at, body in (
        ("POST", "/pengingat/obat", obat),
        ("POST", "/pengingat", obat),
        ("PUT", path, {}),
        ("POST", f"{path}/persediaan", {"tambah": 1}),
        ("DELETE", path, None),
    ):
        assert_error(siti.open(method, at, body), 429, "too_many_requests")
    assert siti.get("/pengingat").status_code == 200
    assert siti.post(f"{path}/konfirmasi", {"status": "done"}).status_code == 404
    assert budi.post("/pengingat/obat", obat).status_code == 201
