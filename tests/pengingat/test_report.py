"""Report for the doctor. It shows how many reminders a patient answered or missed."""

import pytest

from tests.pengingat.ledgers import past
from tests.pengingat.reports import FEBRUARY, report, text_of


@pytest.fixture
def february(siti, siti_id, moment):
    """Create 28 evening doses: three missed, one undelivered, one skipped, the others done."""
    states = {5: "missed", 6: "missed", 12: "missed", 20: "missed", 25: "skipped"}
    for day in range(1, 29):
        past(siti_id, day, states.get(day, "done"), undelivered=day == 20)
    past(siti_id, 3, "done", judul='=HYPERLINK("http://x")', tipe="makan")
    past(siti_id, 4, "void", slot="1")
    return siti


def test_the_report_is_a_pdf_with_dose_results_and_who_recorded_them(february):
    response = report(february, f"{FEBRUARY}&format=csv")  # the format is ignored
    assert response.mimetype == "application/pdf"
    assert response.headers["Content-Disposition"] == 'attachment; filename="kepatuhan_2026-02-01_2026-02-28.pdf"'
    text = text_of(response)
    for words in (
        "Laporan kepatuhan pengingat",
        "1 Februari 2026 – 28 Februari 2026",
        "Siti Aminah",
        "Pasien mencatat ini sendiri di aplikasi.",
        "85,7% jadwal dijalankan (dari yang terkirim dan sudah lewat).",
        "1 jadwal tidak terkirim karena gangguan kami, dan tidak dihitung.",
        "Dilakukan per minggu, dalam persen",
        "Metformin",
    ):
        assert words in text


def test_the_pdf_text_table_and_json_round_percentages_alike(siti, siti_id, moment):
    """One of sixteen doses is 6.25 percent, exactly between 6.2 and 6.3. Text, table and JSON must all show 6.3."""
    for day in range(1, 17):
        past(siti_id, day, "done" if day == 1 else "missed")
    text = text_of(report(siti))
    assert "6,3% jadwal dijalankan" in text
    assert "Metformin obat 16 1 0 15 0 6,3" in text
    assert siti.get(f"/pengingat/kepatuhan?{FEBRUARY}").json["percent"] == 6.3


def test_the_pdf_report_marks_weeks_without_countable_doses(siti, siti_id, moment):
    for day in range(2, 9):  # all doses of the second week are missed, and all of the third are undelivered
        past(siti_id, day, "done")
        past(siti_id, day + 7, "missed")
        past(siti_id, day + 14, "missed", undelivered=True)
    text = text_of(report(siti, "start=2026-02-02&end=2026-02-22"))
    assert "16/2*" in text
    assert "9/2*" not in text
    assert "* Pada minggu itu tidak ada jadwal yang dapat dihitung." in text
    assert "*" not in text_of(report(siti, "start=2026-02-02&end=2026-02-15"))


def test_the_report_has_as_many_pages_as_its_reminders_need(siti, siti_id, moment):
    for n in range(100):
        past(siti_id, 1 + n % 28, "done", judul=f"Obat nomor {n} {'dengan nama panjang ' * 9}", slot=str(n))
    text = text_of(report(siti, "start=2026-01-01&end=2026-04-02"))
    assert all(f"Obat nomor {n} dengan" in text for n in range(100))
    assert "Halaman 2 dari" in text


def test_the_pdf_report_shows_the_prescription_of_each_medicine(siti, siti_id, moment, obat):
    three = [{"jam": f"{hour:02}:30", "jumlah": 10, "satuan": "unit"} for hour in (0, 5, 11)]
    insulin = {"nama_obat": "Insulin", "frekuensi": 3, "aturan": "sebelum makan", "jadwal": three}
    sent = [
        obat,
        {"judul": "Suntik", "timezone": "Asia/Jayapura", "details": {**insulin, "petunjuk": "putar tempatnya"}},
        {**obat, "judul": "Makan"},
    ]
    for day, each in enumerate(sent, 1):
        past(siti_id, day, "done", judul=each["judul"], reminder_id=siti.post("/pengingat/obat", each).json["id"])
    past(siti_id, 4, "done", judul="Makan", tipe="makan")
    text = text_of(report(siti))
    assert "Metformin: 1 tablet pukul 07.00, 0,5 tablet pukul 19.00, setelah makan" in text
    assert "Insulin: 10 unit pukul 09.30, 14.30 dan 20.30, sebelum makan, putar tempatnya" in text
    assert text.count("Metformin:") == 2  # the medicine "Makan" has a prescription, the meal "Makan" has none


def test_the_report_shows_the_local_times_of_meals_and_therapies(siti, siti_id, moment):
    meals = {"sarapan": {"jam": "23:30"}, "makan_siang": {"jam": "05:00"}}
    sessions = {"jadwal": [{"hari": "senin", "jam": "02:00"}, {"hari": "kamis", "jam": "02:30"}]}
    for day, (tipe, details) in enumerate({"makan": meals, "terapi": sessions}.items(), 1):
        made = siti.post("/pengingat", {"tipe": tipe, "judul": f"Judul {tipe}", "details": details}).json
        past(siti_id, day, "done", tipe=tipe, reminder_id=made["id"])
    text = text_of(report(siti))
    assert "Sarapan pukul 06.30, makan siang pukul 12.00" in text
    assert "Senin pukul 09.00, kamis pukul 09.30" in text
