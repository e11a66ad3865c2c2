"""The state of the service."""

import re

import pytest
from playwright.sync_api import expect

from dev.stack.waiting import PATIENCE_S
from tests.browser.console.page import enter, expect_in_log, log_in, token

pytestmark = pytest.mark.browser


def test_problems_are_shown_in_plain_indonesian(console):
    condition = console.request.get("/api/admins/operasi", headers=token(console, "admin")).json()
    problems = [
        "no worker serves the queue urgent",
        "no clock is going",
        "the oldest due delivery has been waiting for 240 s",
        "no message leaves since 2026-03-02 01:00 UTC: token expired",
    ]
    console.route("**/api/admins/operasi", lambda route: route.fulfill(json={**condition, "problems": problems}))
    log_in(console)
    expect(console.get_by_text("Tidak ada program yang mengirim: Pengingat dan pesan penting.")).to_be_visible()
    expect(console.get_by_text("Penjadwal pengingat berhenti.")).to_be_visible()
    console.get_by_role("link", name="Lihat keadaan layanan").click()
    expect(console.get_by_role("heading", name="Ada masalah")).to_be_visible()
    expect(console.get_by_text("Kiriman tertua sudah menunggu 4 menit.")).to_be_visible()
    expect(console.get_by_text("Tidak ada pesan yang terkirim. Kata penyedia: token expired.")).to_be_visible()


def test_the_service_tab_refreshes_again_after_a_failed_refresh(console):
    enter(console, "Layanan")
    shown = console.get_by_role("heading", name="Pengingat dan pesan penting")
    expect(shown).to_be_visible()
    expect(console.get_by_text(re.compile(r"\d+ terkirim, \d+ gagal"))).to_be_visible()
    console.route("**/api/admins/operasi", lambda route: route.abort())
    expect(console.get_by_role("heading", name="Keadaan tidak dapat dibaca")).to_be_visible(timeout=PATIENCE_S * 1000)
    expect(shown).to_be_hidden()
    console.unroute("**/api/admins/operasi")
    expect(shown).to_be_visible(timeout=PATIENCE_S * 1000)


def test_a_refresh_that_times_out_is_shown_as_failed(console):
    enter(console, "Layanan")
    expect(console.get_by_text("Dibaca ")).to_be_visible()
    console.evaluate(NO_ANSWER)
    expect(console.get_by_role("heading", name="Keadaan tidak dapat dibaca")).to_be_visible()


#: Script that makes every request hang, and makes the page's timeout of 15 seconds end at once.
NO_ANSWER = """() => {
  const { setTimeout } = window;
  window.setTimeout = (work, ms) => setTimeout(work, ms === 15000 ? 0 : ms);
  window.fetch = (url, { signal }) => new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}"""


def test_broadcasts_are_paused_and_resumed(console):
    enter(console, "Layanan")
    console.get_by_role("button", name="Jeda siaran").click()
    expect(console.get_by_text("Dijeda.", exact=True)).to_be_visible()
    expect(console.get_by_role("button", name="Lanjutkan siaran")).to_be_focused()
    console.get_by_role("button", name="Lanjutkan siaran").click()
    expect(console.get_by_text("Berjalan.", exact=True)).to_be_visible()
    expect_in_log(console, "admin melanjutkan siaran.")
