"""Medicines that are taken only for some days, and schedules that apply only for some days."""

import pytest

from app.pengingat import jobs
from tests.helpers.client import assert_error
from tests.pengingat.ledgers import ledger, texts, waiting

#: NOW is 2 March 2026, 08:00 in Jakarta. The doses are at 07:00 and 19:00 in Jakarta, which is 00:00 and 12:00 UTC.
RAMADAN = {
    "mulai": "2026-03-03",
    "selesai": "2026-03-04",
    "jadwal": [{"jam": "21:00", "jumlah": 2, "satuan": "kapsul"}, {"jam": "11:00", "jumlah": 1, "satuan": "tablet"}],
}


def with_details(obat, **details):
    return {**obat, "details": {**obat["details"], **details}}


def make(siti, obat, **details):
    answer = siti.post("/pengingat/obat", with_details(obat, **details))
    assert answer.status_code == 201, answer.json
    return answer.json


def all_dues(moment, days=10):
    for _ in range(days):
        jobs.top_up()
        moment.move(days=1)
    return waiting()


def test_no_message_is_queued_before_or_after_the_days_of_a_course(siti, moment, obat):
    record = make(siti, obat, mulai="2026-03-04", selesai="2026-03-05")
    assert record["waktu"] == "2026-03-04T00:00:00Z"
    assert waiting() == []
    assert all_dues(moment) == ["04 00:00", "04 12:00", "05 00:00", "05 12:00"]
    assert ledger() == ["04 00:00 0 pending", "04 12:00 1 pending", "05 00:00 0 pending", "05 12:00 1 pending"]


def test_a_course_ends_after_its_last_day(siti, moment, obat):
    make(siti, obat, mulai="2026-03-03", selesai="2026-03-04")
    assert all_dues(moment) == ["03 00:00", "03 12:00", "04 00:00", "04 12:00"]


def test_a_course_includes_29_february_of_a_leap_year(siti, moment, obat):
    moment.now = moment.now.replace(year=2028, month=2, day=27)
    make(siti, obat, mulai="2028-02-29", selesai="2028-03-01")
    assert sorted(all_dues(moment)) == ["01 00:00", "01 12:00", "29 00:00", "29 12:00"]


def test_an_update_with_the_unchanged_record_does_not_change_a_course(siti, moment, obat):
    record = make(siti, obat, selesai="2026-03-04", jadwal_sementara=RAMADAN)
    moment.move(days=1)
    jobs.top_up()
    before = ledger()
    sent_back = siti.put(f"/pengingat/{record['id']}", record)
    assert sent_back.status_code == 200
    assert sent_back.json["details"] == record["details"]
    assert ledger() == before


def test_a_temporary_schedule_replaces_the_usual_times_on_its_days(siti, moment, obat):
    make(siti, obat, jadwal_sementara=RAMADAN)
    assert all_dues(moment, days=4)[:7] == [
        "02 12:00", "02 21:00", "03 11:00", "03 21:00", "04 11:00", "05 00:00", "05 12:00",
    ]  # fmt: skip


def test_a_message_shows_the_dose_of_the_temporary_schedule(siti, moment, obat):
    make(siti, obat, jadwal_sementara=RAMADAN)
    assert texts() == [
        "Halo Siti, waktunya minum Metformin (0,5 tablet, setelah makan) pukul 19.00 WIB.",
        "Halo Siti, waktunya minum Metformin (1 tablet, setelah makan) pukul 18.00 WIB.",
        "Halo Siti, waktunya minum Metformin (2 kapsul, setelah makan) pukul 04.00 WIB.",
    ]


def test_a_temporary_schedule_has_no_doses_outside_the_course(siti, moment, obat):
    make(siti, obat, selesai="2026-03-03", jadwal_sementara=RAMADAN)
    assert all_dues(moment) == ["02 12:00", "02 21:00", "03 11:00"]


def test_a_course_stays_done_after_its_last_dose_is_done(siti, moment, obat):
    path = f"/pengingat/{make(siti, obat, selesai='2026-03-02')['id']}"
    moment.move(hours=11, minutes=30)
    assert siti.post(f"{path}/konfirmasi", {"status": "done"}).json["due_at"] == "2026-03-02T12:00:00Z"
    moment.move(days=30)
    assert siti.get(path).json["is_done"] is True


def test_an_ended_course_needs_no_top_up_until_it_is_extended(siti, moment, obat):
    record = make(siti, obat, selesai="2026-03-03")
    for _ in range(4):
        moment.move(days=1)
        jobs.top_up()
    assert jobs.top_up_page() == 0
    longer = {**record["details"], "selesai": "2026-03-11"}
    assert siti.put(f"/pengingat/{record['id']}", {"details": longer}).json["waktu"] == "2026-03-06T12:00:00Z"
    assert waiting()[-1] == "07 12:00"


def test_shortening_a_course_cancels_the_deliveries_after_its_end(siti, moment, obat):
    path = f"/pengingat/{make(siti, obat)['id']}"
    assert waiting() == ["02 12:00", "03 00:00", "03 12:00"]
    siti.put(path, {"details": with_details(obat, selesai="2026-03-02")["details"]})
    assert waiting() == ["02 12:00"]
    assert ledger() == ["02 12:00 1 pending", "03 00:00 0 void", "03 12:00 1 void"]


@pytest.mark.parametrize(
    ("details", "field"),
    [
        ({"mulai": "2026-03-04", "selesai": "2026-03-03"}, "details.selesai"),
        ({"mulai": "besok"}, "details.mulai"),
        ({"selesai": 5}, "details.selesai"),
        ({"jadwal_sementara": []}, "details.jadwal_sementara"),
        ({"jadwal_sementara": {**RAMADAN, "selesai": None}}, "details.jadwal_sementara.selesai"),
        ({"jadwal_sementara": {**RAMADAN, "selesai": "2026-03-02"}}, "details.jadwal_sementara.selesai"),
        ({"jadwal_sementara": {**RAMADAN, "jadwal": RAMADAN["jadwal"][:1]}}, "details.jadwal_sementara.jadwal"),
        ({"jadwal_sementara": {**RAMADAN, "jadwal": [RAMADAN["jadwal"][0]] * 2}}, "details.jadwal_sementara.jadwal"),
        ({"jadwal_sementara": {**RAMADAN, "jadwal": [{"jam": "7"}] * 2}}, "details.jadwal_sementara.jadwal.0.jam"),
    ],
)
def test_a_course_with_invalid_fields_is_refused(siti, obat, details, field):
    assert_error(siti.post("/pengingat/obat", with_details(obat, **details)), 400, field=field)


def test_null_course_fields_mean_no_course(siti, moment, obat):
    empty = dict.fromkeys(("mulai", "selesai", "jadwal_sementara"))
    make(siti, obat, **empty)
    assert waiting() == ["02 12:00", "03 00:00", "03 12:00"]
