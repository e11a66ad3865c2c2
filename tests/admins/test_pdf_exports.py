"""Tests of exported pdf reports: pages, fonts of all scripts, and the maximum number of rows."""

import re
from datetime import timedelta

import sqlalchemy as sa
from fpdf import FPDF

from app.core.database.session import db
from app.core.exports import pdf
from app.core.exports.charts import Chart
from app.identity.models import User
from tests.admins.exports import get, read_csv, read_pdf, read_xlsx
from tests.helpers.factories import make_user


def test_a_pdf_has_title_range_headings_and_page_numbers_on_every_page(admin):
    db.session.execute(
        sa.text(
            "INSERT INTO users (username, password_hash, nama_ktp, created_at)"
            " SELECT 'user' || n, 'x', 'Nama ' || n, '2026-03-01T10:00Z'::timestamptz + n * interval '1 hour'"
            " FROM generate_series(1, 120) n"
        )
    )
    text, pages = read_pdf(get(admin, "users", format="pdf", start="2026-03-01", end="2026-03-31"))
    assert pages > 2
    assert "Tabel ini memuat" not in text
    assert text.count("Laporan Pengguna") == text.count("Nama pengguna") == pages
    assert text.count("1 Maret 2026 – 31 Maret 2026") == pages
    assert f"Halaman {pages} dari {pages}" in text
    assert "Pendaftaran per hari" in text
    assert "120 baris" in text
    assert all(re.search(rf"\bNama {n}\b", text) for n in (1, 60, 120))


#: Names in scripts that the fonts of the reports cannot show, and one with emoji.
OTHER_SCRIPTS = ["陈丽华", "タナカ", "김민준", "محمد", "दिलीप", "สมชาย", "דוד", "ꦧꦸꦢꦶ", "🌸", "𓀀"]


def test_a_name_is_legible_in_latin_greek_and_cyrillic_and_else_replacement_characters(admin):
    legible = "Дмитрий Αλέξης Văn Đức"
    for n, name in enumerate([legible, *OTHER_SCRIPTS]):
        make_user(nama_ktp=f"Nama{n} {name}")
    text, _ = read_pdf(get(admin, "users", format="pdf"))
    assert legible in text
    for n, name in enumerate(OTHER_SCRIPTS, 1):
        assert f"Nama{n} \ufffd" in text, name
        assert name not in text


def test_an_empty_pdf_says_so(admin):
    text, _ = read_pdf(get(admin, "activity-logs", format="pdf"))
    assert "Tidak ada data" in text


class Written(FPDF):
    """A fake pdf page that records the texts that are written on it."""

    def __init__(self):
        super().__init__()
        self.texts = []
        self.add_page()
        self.set_font("helvetica")

    def text(self, x, y, text=""):
        self.texts.append(text)


def test_grid_lines_of_a_chart_have_correct_labels():
    for most in (1, 5, 6, 9, 10, 11, 99, 100, 1001):
        page = Written()
        Chart("Pendaftaran per hari", [("1/3", float(most))], upright=True).draw(page, 0, 0, 100)
        _, *lines, _ = page.texts
        heights = [int(label.replace(".", "")) for label in lines]
        assert heights == [heights[1] * n for n in range(5)], most
        assert most <= heights[-1] <= max(4, 2 * most)


def test_a_long_pdf_shows_the_first_rows_and_says_how_many_there_are(admin, monkeypatch):
    monkeypatch.setattr(pdf, "MAX_ROWS", 3)
    for _ in range(2):
        make_user()
    assert "Tabel ini memuat" not in read_pdf(get(admin, "users", format="pdf"))[0], "exactly the maximum of rows"
    for n in range(3):
        make_user(nama_ktp=f"Nama {n}")
    text, _ = read_pdf(get(admin, "users", format="pdf"))
    assert "Tabel ini memuat 3 dari 6 baris. Unduh xlsx atau csv untuk semua baris." in text
    assert re.findall(r"Nama \d", text) == ["Nama 2", "Nama 1", "Nama 0"]
    assert len(read_csv(get(admin, "users"))) == 7
    assert len(read_xlsx(get(admin, "users", format="xlsx"))) == 7


def test_the_chart_of_a_long_pdf_covers_the_days_of_the_shown_rows(admin, monkeypatch):
    """Older rows are missing. A chart of the whole range would show days without registrations."""
    monkeypatch.setattr(pdf, "MAX_ROWS", 1)
    old = make_user()
    db.session.execute(sa.update(User).filter_by(id=old.id).values(created_at=sa.func.now() - timedelta(days=900)))
    text, _ = read_pdf(get(admin, "users", format="pdf"))
    assert "Pendaftaran per hari" in text
