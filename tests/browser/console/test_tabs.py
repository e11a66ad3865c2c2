"""The first tab, the reports, the log, and all tabs on a phone, by keyboard and in dark mode."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.console.page import TABS, enter, log_in, look_for, open_tab, press_until, tab
from tests.browser.screens import DESKTOP, PHONE

pytestmark = pytest.mark.browser


def test_the_first_tab_shows_todays_reminders_and_the_count_of_patients(console):
    log_in(console)
    expect(console.get_by_text(re.compile(r"Hari ini \d+ pengingat terkirim, \d+ gagal\."))).to_be_visible()
    expect(console.get_by_text(re.compile(r"Ada \d+ pasien terdaftar\."))).to_be_visible()
    open_tab(console, "Laporan")
    expect(console.locator(".figure").filter(has_text="pasien").first).to_be_visible()


def test_reports_are_downloaded_and_the_log_shows_it(console):
    reports = [("Pengguna", "users", "XLSX"), ("Domisili", "domicile", "PDF"), ("Pengguna", "users", "CSV")]
    enter(console, "Laporan")
    for title, report_name, format_ in reports:
        with console.expect_download() as download:
            console.get_by_role("button", name=f"{title} sebagai {format_}").click()
        assert download.value.suggested_filename == f"{report_name}.{format_.lower()}"
        assert Path(download.value.path()).stat().st_size > 100
        expect(console.get_by_role("status")).to_contain_text("Laporan diunduh")
    open_tab(console, "Catatan")
    for title, _, format_ in reports:
        said = f"admin mengunduh laporan {title.lower()} sebagai {format_}, "
        expect(console.get_by_text(said).first).to_be_visible()


def test_the_audit_log_is_shown_in_sentences_and_can_be_filtered(console):
    enter(console, "Catatan")
    console.get_by_label("Kejadian").select_option("NIK dilihat")
    console.get_by_role("button", name="Tampilkan", exact=True).click()
    expect(console.get_by_text(re.compile(r"^\S+ melihat NIK \S+\.$")).first).to_be_visible()
    expect(console.get_by_text("mengunduh laporan")).to_have_count(0)


def test_no_technical_terms_are_shown(console):
    log_in(console)
    for name in TABS:
        open_tab(console, name)
        expect(console.locator("section > *").first).to_be_visible()
        shown = console.get_by_role("main").inner_text()
        assert re.findall(r"(?i)\b(urgent|bulk|outbox|slot|null|undefined|\w+_\w+)\b|\[object", shown) == [], name


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_no_page_has_an_accessibility_violation(console, violations, size, scheme):
    console.set_viewport_size(size)
    console.emulate_media(color_scheme=scheme)

    def check(name):
        assert console.evaluate("document.documentElement.scrollWidth") == size["width"], name
        assert violations(console) == [], name

    check("login")
    log_in(console)
    for name in TABS:
        open_tab(console, name)
        check(name)
    siti = look_for(console, "siti")
    for action in ("Tidak bisa masuk?", "Peran", "Akhiri semua sesi", "Yang dikirim"):
        siti.get_by_role("button", name=action).first.click()
        expect(siti.locator(".panel > *").first).to_be_visible()
        check(action)


def test_every_tab_opens_by_keyboard(console):
    enter(console)
    for name in TABS[1:]:
        press_until(console, tab(console, name), "Shift+Tab" if name != "Pengguna" else "Tab")
        console.keyboard.press("Enter")
        expect(console.get_by_role("heading", name=name, level=2)).to_be_visible()
