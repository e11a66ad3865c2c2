"""Medicines that are taken only for some days, and schedules that apply only for some days."""

from app.pengingat import jobs
from tests.pengingat.answering import create
from tests.pengingat.ledgers import ledger, texts, waiting

#: NOW is 2 March 2026, 08:00 in Jakarta. The doses are at 07:00 and 19:00 in Jakarta, which is 00:00 and 12:00 UTC.
RAMADAN = {
    "mulai": "2026-03-03",
    "selesai": "2026-03-04",
    "jadwal": [{"jam": "21:00", "jumlah": 2, "satuan": "kapsul"}, {"jam": "11:00", "jumlah": 1, "satuan": "tablet"}],
}


def all_dues(moment, days=10):
    for _ in range(days):
        jobs.top_up()
        moment.move(days=1)
    return waiting()


def test_no_message_is_queued_before_or_after_the_days_of_a_course(siti, moment, obat):
    course = create(siti, obat, mulai="2026-03-04", selesai="2026-03-05")
    assert course.record["waktu"] == "2026-03-04T00:00:00Z"
    assert waiting() == []
    assert all_dues(moment) == ["04 00:00", "04 12:00", "05 00:00", "05 12:00"]
    assert ledger() == ["04 00:00 0 pending", "04 12:00 1 pending", "05 00:00 0 pending", "05 12:00 1 pending"]


def test_an_update_with_the_unchanged_record_does_not_change_a_course(siti, moment, obat):
    course = create(siti, obat, selesai="2026-03-04", jadwal_sementara=RAMADAN)
    record = course.record
    moment.elapse(days=1)
    before = ledger()
    assert course.put(**record)["details"] == record["details"]
    assert ledger() == before


def test_a_temporary_schedule_replaces_the_usual_times_and_doses_on_its_days(siti, moment, obat):
    create(siti, obat, jadwal_sementara=RAMADAN)
    assert texts() == [
        "Halo Siti, waktunya minum Metformin (0,5 tablet, setelah makan) pukul 19.00 WIB.",
        "Halo Siti, waktunya minum Metformin (1 tablet, setelah makan) pukul 18.00 WIB.",
        "Halo Siti, waktunya minum Metformin (2 kapsul, setelah makan) pukul 04.00 WIB.",
    ]
    assert all_dues(moment, days=4)[:7] == [
        "02 12:00", "02 21:00", "03 11:00", "03 21:00", "04 11:00", "05 00:00", "05 12:00",
    ]  # fmt: skip


def test_a_temporary_schedule_has_no_doses_outside_the_course(siti, moment, obat):
    create(siti, obat, selesai="2026-03-03", jadwal_sementara=RAMADAN)
    assert all_dues(moment) == ["02 12:00", "02 21:00", "03 11:00"]


def test_a_course_stays_done_after_its_last_dose_is_done(siti, moment, obat):
    course = create(siti, obat, selesai="2026-03-02")
    moment.move(hours=11, minutes=30)
    assert course.say("done").json["due_at"] == "2026-03-02T12:00:00Z"
    moment.move(days=30)
    assert course.is_done


def test_an_ended_course_needs_no_top_up_until_it_is_extended(siti, moment, obat):
    course = create(siti, obat, selesai="2026-03-03")
    for _ in range(4):
        moment.elapse(days=1)
    assert jobs.top_up_page() == 0
    longer = {**course.record["details"], "selesai": "2026-03-11"}
    assert course.put(details=longer)["waktu"] == "2026-03-06T12:00:00Z"
    assert waiting()[-1] == "07 12:00"


def test_shortening_a_course_cancels_the_deliveries_after_its_end(siti, moment, obat):
    course = create(siti, obat, **dict.fromkeys(("mulai", "selesai", "jadwal_sementara")))
    assert waiting() == ["02 12:00", "03 00:00", "03 12:00"]
    course.put(details={**obat["details"], "selesai": "2026-03-02"})
    assert waiting() == ["02 12:00"]
    assert ledger() == ["02 12:00 1 pending", "03 00:00 0 void", "03 12:00 1 void"]
