"""The list of people: verification, roles, sessions, numbers and deliveries."""

import pytest
from playwright.sync_api import expect

from tests.browser.console.page import PASSWORD, expect_in_log, log_in, look_for, open_tab, register, set_up, token

pytestmark = pytest.mark.browser


def test_a_person_is_verified_and_the_log_shows_it(console):
    register(console, "tuti.baru")
    log_in(console)
    open_tab(console, "Hari ini")
    console.get_by_role("link", name="Lihat siapa yang belum diverifikasi").click()
    tuti = console.get_by_role("article").filter(has_text="tuti.baru")
    tuti.get_by_role("button", name="Verifikasi").click()
    tuti.get_by_role("button", name="Ya, verifikasi").click()
    expect(tuti).to_contain_text("sudah diverifikasi")
    expect(tuti).to_be_focused()
    expect_in_log(console, "admin memverifikasi tuti.baru.")


def test_a_person_has_the_deliveries_and_the_help_to_log_in(console):
    log_in(console)
    boss = look_for(console, "superadmin")
    expect(boss).to_contain_text("superadmin")
    expect(boss.get_by_role("button", name="Matikan verifikasi")).to_have_count(0)  # only a super-admin has it
    siti = look_for(console, "siti")
    siti.get_by_role("button", name="Yang dikirim").click()
    expect(siti.get_by_text("Pesan: ").first).to_be_visible()
    siti.get_by_role("button", name="Tidak bisa masuk?").click()
    expect(siti).to_contain_text("tunggu lima menit, lalu coba lagi")
    expect(siti).to_contain_text("Lupa kata sandi")


def test_sessions_are_ended(console):
    own = register(console, "wulan.hilang")
    log_in(console)
    wulan = look_for(console, "wulan.hilang")
    wulan.get_by_role("button", name="Akhiri semua sesi").click()
    form = wulan.locator("form")
    form.get_by_label("Alasan").fill("Ponselnya hilang.")
    form.get_by_role("button", name="Akhiri semua sesi").click()
    expect(console.get_by_role("status")).to_contain_text("sudah dikeluarkan dari semua perangkat")
    assert console.request.get("/api/profile", headers=own).status == 401
    expect_in_log(console, "admin mengakhiri semua sesi wulan.hilang, karena: Ponselnya hilang.")


def test_a_phone_number_is_removed_from_an_account(console):
    sent = []

    def freed(route):
        sent.append((route.request.method, route.request.post_data_json))
        route.fulfill(json={"nomor_hp": None})

    console.route("**/api/admins/users/*/phone", freed)
    log_in(console)
    siti = look_for(console, "siti")
    siti.get_by_role("button", name="Lepaskan nomor HP").click()
    siti.get_by_label("Alasan").fill("Dipakai orang lain.")
    siti.get_by_role("button", name="Lepaskan nomor", exact=True).click()
    expect(siti).to_contain_text("tanpa nomor HP")
    expect(siti.get_by_role("button", name="Lepaskan nomor HP")).to_have_count(0)
    assert sent == [("DELETE", {"reason": "Dipakai orang lain."})]


def test_roles_are_changed(console):
    register(console, "yani.peran")
    log_in(console)
    yani = look_for(console, "yani.peran")
    yani.get_by_role("button", name="Peran").click()
    expect(yani.get_by_label("administrator utama")).to_be_disabled()
    yani.get_by_label("pendamping").check()
    yani.get_by_role("button", name="Simpan peran").click()
    expect(yani).to_contain_text("pendamping dan pasien")
    expect_in_log(console, "admin memberi peran pendamping kepada yani.peran.")


def test_a_superadmin_removes_the_second_factor_of_another(console):
    boss = token(console, "superadmin")
    form = {"email": "lupa@contoh.id", "username": "lupa.kode", "password": PASSWORD, "nama_ktp": "Lupa Kode"}
    assert console.request.post("/api/admins", multipart=form, headers=boss).ok
    login = {"username": "lupa.kode", "password": PASSWORD}
    own = {"Authorization": f"Bearer {console.request.post('/api/login', data=login).json()['access_token']}"}
    set_up(console, own)
    log_in(console, "superadmin")
    other = look_for(console, "lupa.kode")
    other.get_by_role("button", name="Matikan verifikasi dua langkah").click()
    asked = other.locator("form")
    asked.get_by_label("Alasan").fill("Ponselnya rusak.")
    asked.get_by_label("Kata sandi").fill("salah-sekali")
    asked.get_by_role("button").click()
    expect(console.get_by_role("status")).to_have_text("Kata sandi saat ini salah.")
    asked.get_by_label("Kata sandi").fill(PASSWORD)
    asked.get_by_role("button").click()
    expect(console.get_by_role("status")).to_contain_text("dimatikan")
    assert console.request.get("/api/profile", headers=own).status == 401
    assert console.request.post("/api/login", data=login).ok


def test_older_deliveries_are_loaded_below_the_latest(console):
    part = {
        "channel": "message",
        "status": "failed",
        "at": "2026-03-02T00:00:00Z",
        "reason": "Anda mematikan cara kirim ini.",
    }
    asked = []

    def rows(route):
        asked.append(route.request.url.partition("?")[2])
        kind, first = ("reminder", 1) if len(asked) == 1 else ("stock", 21)
        rows = [
            {"id": first + n, "kind": kind, "due_at": "2026-03-02T00:00:00Z", "channels": [part]} for n in range(20)
        ]
        route.fulfill(json=rows if len(asked) == 1 else rows[:1], headers={"X-Total-Count": "21"})

    console.route("**/admins/users/*/pengiriman?*", rows)
    log_in(console)
    siti = look_for(console, "siti")
    siti.get_by_role("button", name="Yang dikirim").click()
    expect(siti.get_by_role("heading", name="Pengingat,")).to_have_count(20)
    siti.get_by_role("button", name="Tampilkan berikutnya").click()
    expect(siti.get_by_role("heading", name="Persediaan obat,")).to_have_count(1)
    expect(siti.get_by_role("heading", name="Pengingat,")).to_have_count(20)
    expect(siti.get_by_text("Itu semuanya.")).to_be_visible()
    expect(siti.get_by_text("Yang dibacanya: “Anda mematikan cara kirim ini.”").first).to_be_visible()
    assert asked == ["per_page=20&page=1", "per_page=20&page=2"]
