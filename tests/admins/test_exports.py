"""Tests of exported reports. The tests read the files with other libraries than the application uses."""

import io
import re
from contextlib import ExitStack

import openpyxl
import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.core.exports import xlsx
from app.core.exports.streaming import EXPORTS
from app.core.lib.csv_injection import guarded
from app.core.lib.local_time import now
from app.identity.models import RoleName
from dev.stack.waiting import wait_until
from tests.admins.activity import record, store
from tests.admins.exports import REPORTS, get, read_csv, read_pdf, read_xlsx
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_admin, make_user

HEADINGS = {
    "users": "id,username,nama_ktp,email,nomor_hp,roles,domicile,is_verified,created_at",
    "admins": "id,username,nama_ktp,email,nomor_hp,roles,is_verified,created_at",
    "activity-logs": "created_at,log,user,event_type,event_name,screen_name,activity_description,session_id,ip",
    "domicile": "province,count,percent",
}


#: Column names of the xlsx files: the labels that administrators see.
LABELS = {
    "users": "ID,Nama pengguna,Nama,E-mail,Nomor HP,Peran,Domisili,Terverifikasi,Terdaftar (WIB)",
    "admins": "ID,Nama pengguna,Nama,E-mail,Nomor HP,Peran,Terverifikasi,Terdaftar (WIB)",
    "activity-logs": "Waktu (WIB),Log,Pengguna,Jenis,Peristiwa,Layar,Keterangan,Sesi,IP",
    "domicile": "Provinsi,Jumlah,Persen",
}


#: Values that a spreadsheet could run as a formula, or that could break a cell, a row, a sheet or a page.
HOSTILE = [
    "=1+1", "+1+1", "-1+1", "@SUM(1)", "\t=1+1", "\r=1+1", '=HYPERLINK("http://x","y")', "=cmd|' /C calc'!A0", "'=1+1",
    '"=1+1"', "=1+1;=2+2", "a,=1+1", "Budi;=cmd|' /C calc'!A0", "a;@SUM(1)", "a; -1", "a\t+1", "a\n=1", "a\r\n=1",
    'a,b;"=1', "\n=1", "a;;=1", "a;+;=1", "=\n1", "\u202e=1+1", "＝1+1", "﻿=1+1", "<b>=1</b>", "&amp;", "{=1}", "%0A=1",
    "=" * 2000,
    "a\nb", 'ku"tip', "koma, titik;", "\u0007bel", "\ufffe", "😀 emoji", "محمد بن عبد الله", "अमिताभ", "Дмитрий 陳大文",
]  # fmt: skip


@pytest.mark.parametrize("report", REPORTS)
def test_every_report_has_every_format_and_its_own_file_name(admin, report):
    make_user(domicile="Aceh")
    store(record(None, now()))
    for kind, mimetype in [
        ("csv", "text/csv"),
        ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ("pdf", "application/pdf"),
    ]:
        response = get(admin, report, format=kind)
        assert response.mimetype == mimetype
        assert response.headers["Content-Disposition"] == f'attachment; filename="{report}.{kind}"'
    assert get(admin, report).mimetype == "text/csv"
    rows = read_csv(get(admin, report))
    assert rows[0] == HEADINGS[report].split(",")
    sheet = read_xlsx(get(admin, report, format="xlsx"))
    assert sheet[0] == LABELS[report].split(",")
    assert len(sheet) == len(rows) > 1


def test_a_range_is_in_jakarta_days_and_part_of_the_file_name(admin):
    for name, moment in [("a", "2026-03-01T16:59Z"), ("b", "2026-03-01T17:00Z"), ("c", "2026-03-02T17:00Z")]:
        make_user(username=f"user_{name}").created_at = moment
    db.session.flush()
    response = get(admin, "users", start="2026-03-02", end="2026-03-02")
    assert 'filename="users_2026-03-02_2026-03-02.csv"' in response.headers["Content-Disposition"]
    assert [row[1] for row in read_csv(response)[1:]] == ["user_b"]
    since = get(admin, "users", end="2026-03-02").headers["Content-Disposition"]
    assert since == 'attachment; filename="users_2026-03-01_2026-03-02.csv"'


def test_exported_people_have_roles_but_no_nik(admin):
    siti = make_user(RoleName.PASIEN, RoleName.PENDAMPING, username="siti", nik="3273014502900001", is_verified=True)
    for kind, read in (("csv", read_csv), ("xlsx", read_xlsx)):
        rows = read(get(admin, "users", format=kind))
        row = dict(zip(HEADINGS["users"].split(","), next(row for row in rows if row[1] == "siti"), strict=True))
        assert set(row["roles"].split(", ")) == {"pasien", "pendamping"}
        assert str(row["id"]) == str(siti.id)
        assert str(row["is_verified"]).lower() == "true"
        if kind == "csv":
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", row["created_at"])
        assert "3273014502900001" not in str(rows)
    assert [(row[1], row[5]) for row in read_csv(get(admin, "admins"))[1:]] == [("rina", "admin")]


def test_a_workbook_has_typed_cells_filters_and_wide_columns(admin):
    make_user(username="siti", nomor_hp="081234567890").created_at = "2026-03-01T17:30:05Z"
    db.session.flush()
    response = get(admin, "users", format="xlsx", start="2026-03-01", end="2026-03-02")
    sheet = openpyxl.load_workbook(io.BytesIO(response.get_data())).active
    moment = sheet["I2"]
    assert (moment.is_date, str(moment.value)) == (True, "2026-03-02 00:30:05")  # in Jakarta time
    assert sheet["E2"].value == "081234567890"  # a text, because a number would lose the leading zero
    assert sheet.freeze_panes == "A2"
    assert sheet.auto_filter.ref == "A1:I2"
    for number, heading in enumerate(LABELS["users"].split(","), 1):
        assert sheet.column_dimensions[openpyxl.utils.get_column_letter(number)].width > len(heading) + 3


def test_a_sheet_prints_on_the_width_of_one_page(admin):
    book = openpyxl.load_workbook(io.BytesIO(get(admin, "users", format="xlsx").get_data()))
    page = book.active.page_setup
    assert (page.orientation, page.paperSize, page.fitToWidth or 1, page.fitToHeight) == ("landscape", 9, 1, 0)
    assert book.active.sheet_properties.pageSetUpPr.fitToPage
    assert book.active.print_title_rows == "$1:$1"


def test_rows_above_the_sheet_limit_are_on_a_second_sheet(admin, monkeypatch):
    monkeypatch.setattr(xlsx, "SHEET_ROWS", 3)
    for number in range(3):
        make_user(username=f"user_{number}")
    book = openpyxl.load_workbook(io.BytesIO(get(admin, "users", format="xlsx").get_data()))
    assert book.sheetnames == ["Pengguna", "Pengguna 2"]
    assert [sheet.auto_filter.ref for sheet in book] == ["A1:I3", "A1:I3"]
    assert [sheet["A1"].value for sheet in book] == ["ID", "ID"]
    assert [[row[1].value for row in sheet.iter_rows(min_row=2)] for sheet in book] == [
        ["user_2", "user_1"],
        ["user_0", "rina"],
    ]


def test_the_domicile_report_has_counts_and_percentages(admin):
    for domicile in ("Jawa Barat", "Jawa Barat", "Aceh"):
        make_user(domicile=domicile)
    rows = read_csv(get(admin, "domicile"))[1:]
    assert rows == [["Jawa Barat", "2", "50.00"], ["Aceh", "1", "25.00"], ["Tidak diisi", "1", "25.00"]]
    assert read_xlsx(get(admin, "domicile", format="xlsx"))[1] == ["Jawa Barat", 2, 50]


def test_exported_activities_have_the_username_and_ip(admin):
    siti = make_user(username="siti")
    store(record(siti, now(), activity_description="membuka", user_ip=None, remote_ip="203.0.113.7"))
    (row,) = read_csv(get(admin, "activity-logs"))[1:]
    assert row[1:5] == ["user", "siti", "screen", "open"]
    assert (row[6], row[8]) == ("membuka", "203.0.113.7")


def test_a_formula_in_a_cell_is_exported_as_text(admin, subtests):
    texts = {f"orang{number:02d}": text for number, text in enumerate(HOSTILE)}
    for username, text in texts.items():
        make_user(username=username).nama_ktp = text
    db.session.flush()
    cells = {row[1]: row[2] for row in read_csv(get(admin, "users"))}
    shown = {row[1]: row[2] for row in read_xlsx(get(admin, "users", format="xlsx"))}
    printed, _ = read_pdf(get(admin, "users", format="pdf"))
    for username, text in texts.items():
        with subtests.test(text):
            assert cells[username] == guarded(text)
            assert isinstance(shown[username], str)
            assert not shown[username].startswith("'") or text.startswith("'")
            assert username in printed


def test_every_export_is_audited(admin):
    get(admin, "users", format="xlsx", start="2026-03-01", end="2026-03-31")
    (row,) = admin.get("/admins/audit").json
    assert (row["action"], row["subject"]) == ("export", "export:users")
    assert row["details"] == {"format": "xlsx", "start": "2026-03-01", "end": "2026-03-31"}


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_a_disconnected_client_releases_query_files_and_export_slot(committed, kind, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    admin = Client(committed).as_(make_admin())
    db.session.execute(
        sa.text(
            "INSERT INTO users (username, password_hash, nama_ktp)"
            " SELECT 'user' || n, 'x', repeat('Nama ', 20) FROM generate_series(1, 8000) n"
        )
    )
    db.session.commit()
    response = committed.test_client().get(
        f"/api/admins/export/users?format={kind}", headers={"Authorization": f"Bearer {admin.token}"}
    )
    chunks = response.iter_encoded()
    assert next(chunks) is not None
    assert next(chunks)
    response.close()
    open_statements = sa.text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle'"
        " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )

    def nobody_works():
        db.session.rollback()  # begin a new transaction, because pg_stat_activity never changes within one
        return db.session.scalar(open_statements) == 0

    wait_until(nobody_works)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(EXPORTS, "wait_s", 0.01)
    with ExitStack() as slots:
        for _ in range(EXPORTS.concurrent):
            slots.enter_context(EXPORTS.slot())


def test_too_many_concurrent_exports_are_503(admin, monkeypatch):
    monkeypatch.setattr(EXPORTS, "wait_s", 0.01)
    with ExitStack() as others:
        for _ in range(EXPORTS.concurrent):
            others.enter_context(EXPORTS.slot())
        response = admin.get("/admins/export/users")
        assert_error(response, 503, "service_unavailable")
        assert response.headers["Retry-After"] == "5"
