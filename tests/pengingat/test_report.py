"""Report for the doctor. It shows how many reminders a patient answered or missed."""

from __future__ import annotations

import csv
import io
from datetime import datetime
from typing import Any

import openpyxl
import pytest

from tests.helpers.client import Client
from tests.helpers.statements import Statements
from tests.pengingat.ledgers import Time, past
from tests.pengingat.reports import FEBRUARY, report, text_of


@pytest.fixture
def february(siti: Client, siti_id: int, moment: Time) -> Client:
    """Create 28 evening doses: three missed, one undelivered, one skipped, the others done."""
    states = {5: "missed", 6: "missed", 12: "missed", 20: "missed", 25: "skipped"}
    for day in range(1, 29):
        past(siti_id, day, states.get(day, "done"), undelivered=day == 20)
    past(siti_id, 3, "done", judul='=HYPERLINK("http://x")', tipe="makan")
    past(siti_id, 4, "void", slot="1")
    return siti


def test_the_pdf_report_shows_dose_results_and_who_recorded_them(february: Client) -> None:
    response = report(february, "pdf")
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


def test_the_pdf_text_table_and_json_round_percentages_alike(siti: Client, siti_id: int, moment: Time) -> None:
    """One of sixteen doses is 6.25 percent, exactly between 6.2 and 6.3. Text, table and JSON must all show 6.3."""
    for day in range(1, 17):
        past(siti_id, day, "done" if day == 1 else "missed")
    text = text_of(report(siti, "pdf"))
    assert "6,3% jadwal dijalankan" in text
    assert "Metformin obat 16 1 0 15 0 6,3" in text
    assert siti.get(f"/pengingat/kepatuhan?{FEBRUARY}").json["percent"] == 6.3


def test_the_pdf_report_marks_weeks_without_countable_doses(siti: Client, siti_id: int, moment: Time) -> None:
    for day in range(2, 9):  # all doses of the second week are missed, and all of the third are undelivered
        past(siti_id, day, "done")
        past(siti_id, day + 7, "missed")
        past(siti_id, day + 14, "missed", undelivered=True)
    text = text_of(report(siti, "pdf", "start=2026-02-02&end=2026-02-22"))
    assert "16/2*" in text
    assert "9/2*" not in text
    assert "* Pada minggu itu tidak ada jadwal yang dapat dihitung." in text
    assert "*" not in text_of(report(siti, "pdf", "start=2026-02-02&end=2026-02-15"))


def test_the_csv_report_has_one_row_for_each_day_and_reminder(february: Client) -> None:
    (heading, *rows) = list(csv.reader(io.StringIO(report(february, "csv").get_data().decode("utf-8-sig"))))
    assert heading == ["date", "judul", "tipe", "due", "done", "skipped", "missed", "undelivered", "percent"]
    assert len(rows) == 29
    assert ["2026-02-05", "Metformin", "obat", "1", "0", "0", "1", "0", "0.0"] in rows
    assert ["2026-02-20", "Metformin", "obat", "1", "0", "0", "0", "1", ""] in rows
    assert ["2026-02-03", '\'=HYPERLINK("http://x")', "makan", "1", "1", "0", "0", "0", "100.0"] in rows


def test_a_workbook_has_real_dates_under_indonesian_headings(february: Client) -> None:
    sheet = openpyxl.load_workbook(io.BytesIO(report(february, "xlsx").get_data())).active
    rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    assert rows[0] == ["Tanggal", "Pengingat", "Jenis", "Jadwal", "Dilakukan", "Dilewati", "Tidak dijawab",
                       "Tidak terkirim", "Persen"]  # fmt: skip
    assert rows[1] == [datetime(2026, 2, 1), "Metformin", "obat", 1, 1, 0, 0, 0, 100]  # noqa: DTZ001  # a cell's day
    assert not any(cell.data_type == "f" for row in sheet.iter_rows() for cell in row)


def test_many_reminders_stay_on_one_page(siti: Client, siti_id: int, moment: Time) -> None:
    for n in range(100):
        past(siti_id, 1 + n % 28, "done", judul=f"Obat nomor {n} {'dengan nama panjang ' * 9}", slot=str(n))
    text = text_of(report(siti, "pdf", "start=2026-01-01&end=2026-04-02"))
    assert "Halaman ini memuat 25 pengingat. 75 pengingat lain ikut dihitung di grafik." in text


def test_many_medicines_stay_on_one_page(siti: Client, siti_id: int, moment: Time, obat: dict[str, Any]) -> None:
    details = {
        **obat["details"],
        "nama_obat": "Metformin hidroklorida lepas lambat",
        "petunjuk": "jangan dengan susu " * 5,
    }
    for n in range(28):
        sent = {"judul": f"Obat nomor {n}", "details": details}
        past(siti_id, 1 + n, "done", reminder_id=siti.post("/pengingat/obat", sent).json["id"])
    text = text_of(report(siti, "pdf"))
    assert "pengingat lain ikut dihitung di grafik." in text
    assert text.count("Metformin hidroklorida") == 5


def test_a_report_without_due_doses_has_a_page_and_an_empty_csv(siti: Client, moment: Time) -> None:
    assert "Belum ada jadwal yang dapat dihitung." in text_of(report(siti, "pdf", ""))
    assert len(report(siti, "csv", "").get_data().splitlines()) == 1


def test_the_report_shows_the_current_title_of_a_reminder(
    siti: Client, siti_id: int, moment: Time, obat: dict[str, Any]
) -> None:
    created = siti.post("/pengingat/obat", obat).json
    past(siti_id, 1, "done", reminder_id=created["id"])
    assert b"2026-02-01,Obat diabetes,obat" in report(siti, "csv").get_data()


def test_the_pdf_report_shows_the_prescription_of_each_medicine(
    siti: Client, siti_id: int, moment: Time, obat: dict[str, Any]
) -> None:
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
    text = " ".join(text_of(report(siti, "pdf")).split())
    assert "Metformin: 1 tablet pukul 07.00, 0,5 tablet pukul 19.00, setelah makan" in text
    assert "Insulin: 10 unit pukul 09.30, 14.30 dan 20.30, sebelum makan, putar tempatnya" in text
    assert text.count("Metformin:") == 2  # the medicine "Makan" has a prescription, the meal "Makan" has none


def test_a_report_needs_at_most_six_statements(february: Client, statements: Statements) -> None:
    with statements.at_most(6):  # one SQL statement each for session, reminders, counts, doses, name and rows
        report(february, "pdf")
