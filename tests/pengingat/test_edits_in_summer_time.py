"""Edits of a reminder after its time zone has changed to summer time. A time that is sent back unchanged stays."""

import pytest

from app.core.database.session import db
from app.pengingat.models import Pengingat
from app.pengingat.types.base import WALL
from tests.pengingat.answering import create, dose
from tests.pengingat.ledgers import NOW

BERLIN = "Europe/Berlin"


def to_summer(moment):
    moment.now = NOW.replace(month=4, day=1, hour=0)


def medicine(*times, **fields):
    doses = [dose(jam) for jam in times]
    return {"nama_obat": "M", "frekuensi": len(doses), "aturan": "saat makan", "jadwal": doses, **fields}


def temporary(*times):
    return {"mulai": "2026-04-10", "selesai": "2026-04-20", "jadwal": [dose(jam) for jam in times]}


def sessions(**times):
    return {"jadwal": [{"hari": day, "jam": jam} for day, jam in times.items()]}


def make(siti, tipe, details):
    body = {"tipe": tipe, "judul": "J", "timezone": BERLIN, "waktu": "2026-03-02T06:00:00Z", "details": details}
    return create(siti, body)


def times_after(reminder, **fields):
    """Change the reminder. Return the times of day of its schedule, in its time zone."""
    reminder.put(**fields)
    schedule = db.session.get_one(Pengingat, reminder.id, populate_existing=True).schedule
    later = schedule.temporary
    return [f"{slot.time:%H:%M}" for slot in (*schedule.slots, *(later.slots if later else ()))]


CASES = {
    "obat": (medicine("06:00", "18:00"), medicine("06:00", "17:30"), ["07:00", "19:30"]),
    "the other order": (medicine("06:00", "18:00"), medicine("17:30", "06:00"), ["19:30", "07:00"]),
    "one dose more": (medicine("06:00"), medicine("06:00", "18:00"), ["07:00", "20:00"]),
    "jadwal_sementara": (
        medicine("06:00", "18:00", jadwal_sementara=temporary("02:00", "19:00")),
        medicine("06:00", "18:00", jadwal_sementara=temporary("02:00", "18:00")),
        ["07:00", "19:00", "03:00", "20:00"],
    ),
    "a new jadwal_sementara": (
        medicine("06:00"),
        medicine("06:00", jadwal_sementara=temporary("06:00")),
        ["07:00", "08:00"],
    ),
    "makan": (
        {"sarapan": {"jam": "06:00"}, "makan_malam": {"jam": "18:00"}},
        {"sarapan": {"jam": "06:00"}, "makan_malam": {"jam": "17:30"}},
        ["07:00", "19:30"],
    ),
    "terapi": (
        sessions(senin="06:00", rabu="06:00"),
        sessions(senin="06:00", jumat="06:00", rabu="05:00"),
        ["07:00", "07:00", "07:00"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_only_a_changed_time_is_converted_with_the_present_offset(siti, moment, case):
    before, after, expected = CASES[case]
    reminder = make(siti, case if case in ("makan", "terapi") else "obat", before)
    to_summer(moment)
    assert times_after(reminder, details=after) == expected


@pytest.mark.parametrize("case", ["jadwal_sementara", "makan", "terapi"])
def test_a_record_that_is_sent_back_changes_no_time(siti, moment, case):
    reminder = make(siti, case if case in ("makan", "terapi") else "obat", CASES[case][0])
    same, before = times_after(reminder, judul="J"), reminder.record["details"]
    to_summer(moment)
    shown = reminder.record
    assert shown["details"] == before
    for fields in ({"details": before}, shown, {"tipe": shown["tipe"]}, {"timezone": BERLIN}):
        assert times_after(reminder, **fields) == same


def test_a_wall_time_is_neither_shown_nor_taken_from_the_client(siti, moment):
    details = medicine("06:00", jadwal_sementara=temporary("02:00"), catatan=[{"jam": "kapan saja"}])
    forged = {**details, "jadwal": [{**dose("06:00"), WALL: "23:00"}]}
    reminder = make(siti, "obat", forged)
    assert reminder.record["details"] == siti.get("/pengingat").json[0]["details"] == details
    assert times_after(reminder, details=forged) == ["07:00", "03:00"]


def test_a_time_that_was_kept_is_kept_by_the_next_edit_too(siti, moment):
    reminder = make(siti, "obat", medicine("06:00", "18:00"))
    to_summer(moment)
    for name in ("A", "B"):
        assert times_after(reminder, details={**medicine("06:00", "17:30"), "nama_obat": name}) == ["07:00", "19:30"]


def test_another_time_zone_or_type_converts_all_times_anew(siti, moment):
    reminder = make(siti, "obat", medicine("06:00", "18:00"))
    meal = make(siti, "makan", {"sarapan": {"jam": "06:00"}})
    to_summer(moment)
    assert times_after(reminder, timezone="Europe/Athens") == ["09:00", "21:00"]
    assert times_after(meal, tipe="obat", details=medicine("06:00")) == ["08:00"]
