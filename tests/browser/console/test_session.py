"""Login, reload and end of a session."""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from tests.browser.console.page import PASSWORD, STORED, enter, log_in, open_tab, set_up, stored, token

pytestmark = pytest.mark.browser


def test_a_refused_login_shows_the_reason(console):
    log_in(console, password="salah-sekali")
    expect(console.get_by_role("status")).to_have_text("Nama pengguna atau kata sandi salah.")
    log_in(console, "siti")
    expect(console.get_by_role("status")).to_contain_text("tidak punya izin")
    expect(console.get_by_role("navigation")).to_be_hidden()
    assert stored(console) == {}


def test_a_login_with_a_second_factor_and_new_recovery_codes(console):
    own = token(console, "superadmin")
    codes = set_up(console, own)
    new = []
    try:
        log_in(console, "superadmin")
        expect(console.get_by_label("Kode verifikasi")).to_be_focused()
        console.get_by_label("Kode verifikasi").fill(codes[0])
        console.keyboard.press("Enter")
        expect(console.get_by_role("heading", name="Hari ini", level=2)).to_be_visible()
        open_tab(console, "Akun")
        expect(console.get_by_text("Sisa kode pemulihan: 9.")).to_be_visible()
        console.get_by_label("Kata sandi Anda").fill(PASSWORD)
        console.get_by_label("Kode verifikasi").fill(codes[1])
        console.get_by_role("button", name="Buat kode baru").click()
        expect(console.locator(".codes code")).to_have_count(10)
        new = console.locator(".codes code").all_inner_texts()
        assert not set(new) & set(codes)
    finally:
        gone = {"password": PASSWORD, "otp": new[0] if new else codes[2]}
        assert console.request.delete("/api/profile/otp", data=gone, headers=own).ok


def test_a_reload_keeps_the_session_and_the_tab(console):
    with console.expect_response("**/api/login") as answered:
        enter(console, "Layanan")
    assert stored(console) == {STORED: answered.value.json()["refresh_token"]}
    with console.expect_request("**/api/refresh"):
        console.reload()
    expect(console.get_by_role("heading", name="Layanan", level=2)).to_be_visible()
    assert list(stored(console)) == [STORED]


def test_a_refused_session_is_dropped(console):
    enter(console)
    console.evaluate(f"sessionStorage.setItem('{STORED}', 'x')")
    console.reload()
    expect(console.get_by_label("Kata sandi")).to_be_visible()
    expect(console.get_by_role("status")).to_contain_text("masuk kembali")
    assert stored(console) == {}


def test_a_reload_without_a_network_keeps_the_session(console):
    enter(console)
    console.route("**/api/refresh", lambda route: route.abort())
    console.reload()
    expect(console.get_by_role("status")).to_contain_text("Periksa jaringan Anda")
    console.unroute("**/api/refresh")
    console.get_by_role("button", name="Coba lagi").click()
    expect(console.get_by_role("heading", name="Hari ini", level=2)).to_be_visible()


def test_the_session_ends_after_thirty_idle_minutes(console):
    console.clock.install()
    console.reload()
    log_in(console)
    with console.expect_request("**/api/admins/overview/hari-ini") as asked:
        open_tab(console, "Hari ini")
    used = {"Authorization": asked.value.headers["authorization"]}
    console.clock.fast_forward(int(timedelta(minutes=29).total_seconds() * 1000))
    console.keyboard.press("Shift")
    console.clock.fast_forward(int(timedelta(minutes=29).total_seconds() * 1000))
    assert list(stored(console)) == [STORED]
    with console.expect_response("**/api/logout"):
        console.clock.fast_forward(int(timedelta(minutes=2).total_seconds() * 1000))
    expect(console.get_by_role("status")).to_contain_text("30 menit tidak ada kegiatan")
    expect(console.get_by_label("Kata sandi")).to_be_visible()
    assert stored(console) == {}
    assert console.request.get("/api/profile", headers=used).status == 401


def test_logging_out_ends_the_session_at_the_service(console):
    log_in(console)
    with console.expect_request("**/api/admins/overview/hari-ini") as asked:
        open_tab(console, "Hari ini")
    used = {"Authorization": asked.value.headers["authorization"]}
    assert console.request.get("/api/profile", headers=used).ok
    console.get_by_role("button", name="Keluar").click()
    expect(console.get_by_label("Kata sandi")).to_be_visible()
    assert console.request.get("/api/profile", headers=used).status == 401
    assert stored(console) == {}


def test_concurrent_requests_refresh_an_expired_token_once(console):
    refreshed = []
    console.on("request", lambda request: refreshed.append(request.url) if request.url.endswith("/refresh") else None)
    enter(console, "Pengguna")
    with console.expect_request("**/api/admins/users?*") as asked:
        console.get_by_label("Tampilkan").select_option("Pasien")
        console.get_by_role("button", name="Cari").click()
    old = asked.value.headers["authorization"]

    def is_over(route):
        if route.request.headers.get("authorization") == old:
            ended = {"error": "session_ended", "message": "Sesi telah berakhir.", "request_id": "x"}
            return route.fulfill(status=401, json=ended)
        return route.continue_()

    console.clock.install()
    # Wait for the next second. Token times are whole seconds, and the next token must differ.
    console.wait_for_timeout(1100)
    console.route("**/api/**", is_over)
    open_tab(console, "Moderasi")  # the page sends five requests at the same time
    expect(console.get_by_role("link", name=re.compile(r"Menunggu \(\d+\)"))).to_be_visible()
    assert len(refreshed) == 1
