"""Edits of a reminder after its time zone has changed to summer time. A time that is sent back unchanged stays."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.pengingat.models import Pengingat
from app.pengingat.types.base import WALL
from tests.pengingat.ledgers import NOW

BERLIN = "Europe/Berlin"


@pytest.fixture
def winter(moment):
    return moment


def to_summer(moment):
    moment.now = NOW.replace(month=4, day=1, hour=0)


def dose(jam):
    return {"jam": jam, "jumlah": 1, "satuan": "tablet"}


def medicine(*times, **fields):
    doses = [dose(jam) for jam in times]
    return {"nama_obat": "M", "frekuensi": len(doses), "aturan": "saat makan", "jadwal": doses, **fields}


def temporary(*times):
    return {"mulai": "2026-04-10", "selesai": "2026-04-20", "jadwal": [dose(jam) for jam in times]}


def make(siti, tipe, details):
    body = {"tipe": tipe, "judul": "J", "timezone": BERLIN, "waktu": "2026-03-02T06:00:00Z", "details": details}
    answer = siti.post("/pengingat", body)
    assert answer.status_code == 201, answer.json
    return dict(answer.json)


def put(siti, record, **fields):
    """Change the reminder. Return the times of day of its schedule, in its time zone."""
    answer = siti.put(f"/pengingat/{record['id']}", fields)
    assert answer.status_code == 200, answer.json
    row = db.session.scalars(
        sa.select(Pengingat).filter_by(id=record["id"]).execution_options(populate_existing=True)
    ).one()
    later = row.schedule.temporary
    return [f"{slot.time:%H:%M}" for slot in (*row.schedule.slots, *(later.slots if later else ()))]


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
        {"jadwal": [{"hari": "senin", "jam": "06:00"}, {"hari": "rabu", "jam": "06:00"}]},
        {
            "jadwal": [
                {"hari": "senin", "jam": "06:00"},
                {"hari": "jumat", "jam": "06:00"},
                {"hari": "rabu", "jam": "05:00"},
            ]
        },
        ["07:00", "07:00", "07:00"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_only_a_changed_time_is_converted_with_the_present_offset(siti, winter, case):
    before, after, expected = CASES[case]
    record = make(siti, case if case in ("makan", "terapi") else "obat", before)
    to_summer(winter)
    assert put(siti, record, details=after) == expected


@pytest.mark.parametrize("case", ["obat", "jadwal_sementara", "makan", "terapi"])
def test_a_record_that_is_sent_back_changes_no_time(siti, winter, case):
    record = make(siti, case if case in ("makan", "terapi") else "obat", CASES[case][0])
    same = put(siti, record, judul="J")
    to_summer(winter)
    shown = siti.get(f"/pengingat/{record['id']}").json
    assert shown["details"] == record["details"]
    for fields in ({"details": shown["details"]}, shown, {"tipe": shown["tipe"]}, {"timezone": BERLIN}):
        assert put(siti, record, **fields) == same


def test_a_wall_time_is_neither_shown_nor_taken_from_the_client(siti, winter):
    details = medicine("06:00", jadwal_sementara=temporary("02:00"), catatan=[{"jam": "kapan saja"}])
    forged = {**details, "jadwal": [{**dose("06:00"), WALL: "23:00"}]}
    record = make(siti, "obat", forged)
    assert record["details"] == details
    assert siti.get("/pengingat").json[0]["details"] == details
    assert put(siti, record, details=forged) == ["07:00", "03:00"]


def test_a_time_that_was_kept_is_kept_by_the_next_edit_too(siti, winter):
    record = make(siti, "obat", medicine("06:00", "18:00"))
    to_summer(winter)
    for name in ("A", "B"):
        assert put(siti, record, details={**medicine("06:00", "17:30"), "nama_obat": name}) == ["07:00", "19:30"]


def test_another_time_zone_converts_all_times_anew(siti, winter):
    record = make(siti, "obat", medicine("06:00", "18:00"))
    to_summer(winter)
    assert put(siti, record, timezone="Europe/Athens") == ["09:00", "21:00"]


def test_another_type_converts_all_times_anew(siti, winter):
    record = make(siti, "makan", {"sarapan": {"jam": "06:00"}})
    to_summer(winter)
    assert put(siti, record, tipe="obat", details=medicine("06:00")) == ["08:00"]
