"""The administrators' console: daily work, keyboard, phone, dark mode, and the end of the session."""

import re
from datetime import timedelta
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pyotp
import pytest
import requests
from playwright.sync_api import expect

from dev.stack.waiting import PATIENCE_S
from tests.browser.screens import DESKTOP, PHONE
from tests.core.media.samples import plain

pytestmark = pytest.mark.browser


PASSWORD = "rahasia123"
TABS = ("Hari ini", "Pengguna", "Moderasi", "Laporan", "Layanan", "Catatan", "Akun")
#: The only key that the page uses in the browser's storage.
STORED = "console.refresh_token"


@pytest.fixture
def console(browser, service, tmp_path):
    """Open the console in a new browser context. A script error or a request to another host fails the test."""
    context = browser.new_context(base_url=service.url, locale="id-ID")
    context.set_default_timeout(PATIENCE_S * 1000)
    page = context.new_page()
    problems = []
    # Chromium prints an error for each request that the service refuses. The page shows these refusals itself.
    refused = "Failed to load resource"
    page.on(
        "console",
        lambda line: problems.append(line.text) if line.type == "error" and not line.text.startswith(refused) else None,
    )
    page.on("pageerror", lambda error: problems.append(str(error)))
    own = (service.url, f"blob:{service.url}")  # `blob:` addresses contain data of the page itself
    page.on("request", lambda request: None if request.url.startswith(own) else problems.append(request.url))
    page.goto("/console")
    yield page
    context.close()
    assert problems == []


@cache
def _logged_in(url, username):
    """Log in only once for each person, because an IP address may log in at most sixty times a minute."""
    answer = requests.post(f"{url}/api/login", json={"username": username, "password": PASSWORD}, timeout=PATIENCE_S)
    assert answer.ok, answer.text
    return str(answer.json()["access_token"])


def token(page, username):
    url = urlsplit(page.url)
    return {"Authorization": f"Bearer {_logged_in(f'{url.scheme}://{url.netloc}', username)}"}


def log_in(page, username="admin", password=PASSWORD):
    page.get_by_label("Nama pengguna").fill(username)
    page.get_by_label("Kata sandi").fill(password)
    page.get_by_role("button", name="Masuk").click()


def tab(page, name):
    return page.get_by_role("navigation", name="Bagian").get_by_role("link", name=name, exact=True)


def open_tab(page, name):
    tab(page, name).click()
    expect(page.get_by_role("heading", name=name, level=2)).to_be_visible()
    expect(page.get_by_text("Memuat…")).to_have_count(0)


def look_for(page, text):
    open_tab(page, "Pengguna")
    page.get_by_label("Nama, nama pengguna").fill(text)
    page.get_by_role("button", name="Cari").click()
    return page.get_by_role("article").first


def register(page, username):
    body = {"username": username, "password": PASSWORD, "nama_ktp": username.title(), "nama_samaran": username}
    answer = page.request.post("/api/register", data={**body, "nomor_hp": f"0813{abs(hash(username)) % 10**8:08}"})
    assert answer.ok, answer.text()
    return {"Authorization": f"Bearer {answer.json()['access_token']}"}


def report(page, title, **reason):
    """Create a thread of Siti, report it as Budi, and return its id."""
    siti, budi = token(page, "siti"), token(page, "budi")
    (category, *_) = page.request.get("/api/forum/categories").json()
    written = {"title": title, "content": "Sembuh sehari!", "category_id": category["id"]}
    thread = page.request.post("/api/forum/threads", data=written, headers=siti).json()
    reported = page.request.post(
        f"/api/forum/threads/{thread['id']}/lapor", data=reason or {"reason": "spam"}, headers=budi
    )
    assert reported.ok, reported.text()
    return int(thread["id"])


def case_of(page, title):
    return page.get_by_role("article").filter(has_text=title)


def press_until(page, wanted, key="Tab"):
    for _ in range(200):
        if wanted.evaluate("(node) => node === document.activeElement"):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{wanted} is not reached by {key}")


# --- a working day of an administrator ------------------------------------------------------------------------------


def test_the_first_tab_shows_todays_reminders_and_the_count_of_patients(console):
    log_in(console)
    expect(console.get_by_text(re.compile(r"Hari ini \d+ pengingat terkirim, \d+ gagal\."))).to_be_visible()
    expect(console.get_by_text(re.compile(r"Ada \d+ pasien terdaftar\."))).to_be_visible()
    open_tab(console, "Laporan")
    expect(console.locator(".figure").filter(has_text="pasien").first).to_be_visible()


def test_reports_are_downloaded_and_the_log_shows_it(console):
    reports = [("Pengguna", "users", "XLSX"), ("Domisili", "domicile", "PDF"), ("Pengguna", "users", "CSV")]
    log_in(console)
    open_tab(console, "Laporan")
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
    open_tab(console, "Catatan")
    expect(console.get_by_text("admin memverifikasi tuti.baru.").first).to_be_visible()


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
    open_tab(console, "Catatan")
    expect(console.get_by_text("admin mengakhiri semua sesi wulan.hilang, karena: Ponselnya hilang.")).to_be_visible()


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


def test_an_urgent_case_shows_instructions_and_is_decided(console):
    thread = report(console, "Tidak kuat lagi", reason="self_harm")
    log_in(console)
    expect(console.get_by_text("Ada yang mendesak")).to_be_visible()
    console.get_by_role("link", name="Periksa tulisan").click()
    case = case_of(console, "Tidak kuat lagi")
    expect(case.get_by_role("heading", name="Mendesak: Tidak kuat lagi")).to_be_visible()
    expect(case.get_by_role("list", name="Yang perlu dilakukan").get_by_role("listitem")).to_have_count(3)
    for choice in case.get_by_role("radio").all():
        expect(choice).not_to_be_checked()
    case.get_by_label("Alasan").fill("Ia sudah dihubungi.")
    case.get_by_role("button", name="Putuskan").click()  # no option is chosen, so the browser does not submit the form
    expect(case.get_by_role("button", name="Putuskan")).to_be_visible()
    case.get_by_role("link", name=f"Utas nomor {thread}").click()
    expect(console.get_by_role("heading", name=f"Utas nomor {thread}: Tidak kuat lagi")).to_be_visible()
    console.get_by_role("link", name="Kembali ke kasus").click()
    case.get_by_label("Biarkan").check()
    case.get_by_label("Alasan").fill("Ia sudah dihubungi.")
    case.get_by_role("button", name="Putuskan").click()
    expect(case).to_contain_text("Dibiarkan.")
    console.get_by_role("link", name=re.compile(r"Dibiarkan \(\d+\)")).click()
    expect(case).to_contain_text("Alasan keputusan: Ia sudah dihubungi.")
    case.get_by_text("Ubah keputusan").click()
    expect(case.get_by_role("button", name="Putuskan")).to_be_visible()


def test_the_audit_log_is_shown_in_sentences_and_can_be_filtered(console):
    log_in(console)
    open_tab(console, "Catatan")
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


# --- the list of people ---------------------------------------------------------------------------------------------


def test_roles_are_changed(console):
    register(console, "yani.peran")
    log_in(console)
    yani = look_for(console, "yani.peran")
    yani.get_by_role("button", name="Peran").click()
    expect(yani.get_by_label("administrator utama")).to_be_disabled()
    yani.get_by_label("pendamping").check()
    yani.get_by_role("button", name="Simpan peran").click()
    expect(yani).to_contain_text("pendamping dan pasien")
    open_tab(console, "Catatan")
    expect(console.get_by_text("admin memberi peran pendamping kepada yani.peran.").first).to_be_visible()


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


# --- moderation -----------------------------------------------------------------------------------------------------


def test_a_case_can_be_decided_with_the_keyboard_only(console):
    siti, budi = token(console, "siti"), token(console, "budi")
    thread = report(console, "Obat ajaib dari konsol")
    console.keyboard.type("admin")
    console.keyboard.press("Tab")
    console.keyboard.type(PASSWORD)
    console.keyboard.press("Enter")
    expect(console.get_by_role("heading", name="Hari ini", level=2)).to_be_visible()
    press_until(console, tab(console, "Moderasi"))
    console.keyboard.press("Enter")
    case = case_of(console, "Obat ajaib dari konsol")
    expect(case).to_be_visible()
    press_until(console, case.get_by_label("Biarkan"))
    console.keyboard.press("ArrowRight")  # changes the choice from "Biarkan" to "Sembunyikan"
    console.keyboard.press("Tab")
    console.keyboard.type("Mengiklankan obat tanpa izin edar.")
    console.keyboard.press("Enter")
    expect(case).to_contain_text("Disembunyikan.")
    expect(case).to_be_focused()
    expect(case.get_by_role("button")).to_have_count(0)
    shown = console.request.get(f"/api/forum/threads/{thread}", headers=budi).json()
    assert shown["title"] == "[disembunyikan moderator]"
    appeal = console.request.post(f"/api/forum/threads/{thread}/banding", data={"note": "Teh biasa."}, headers=siti)
    assert appeal.ok, appeal.text()
    open_tab(console, "Catatan")
    expect(console.get_by_text(f"admin menyembunyikan tulisan nomor {thread}.")).to_be_visible()
    open_tab(console, "Hari ini")
    console.get_by_role("link", name="Periksa banding").click()
    expect(case).to_contain_text("Banding penulis: Teh biasa.")


def test_typed_text_about_a_case_stays_when_another_case_is_decided(console):
    for title in ("Jamu sakti pertama", "Jamu sakti kedua"):
        report(console, title)
    log_in(console)
    open_tab(console, "Moderasi")
    first, second = (case_of(console, title) for title in ("Jamu sakti pertama", "Jamu sakti kedua"))
    second.get_by_label("Alasan").fill("Iklan jamu.")
    first.get_by_label("Alasan").fill("Bukan iklan.")
    first.get_by_label("Biarkan").check()
    first.get_by_role("button", name="Putuskan").click()
    expect(first).to_contain_text("Dibiarkan.")
    expect(second.get_by_label("Alasan")).to_have_value("Iklan jamu.")
    second.get_by_label("Biarkan").check()
    second.get_by_role("button", name="Putuskan").click()
    expect(second).to_contain_text("Dibiarkan.")
    open_tab(console, "Moderasi")
    expect(first).to_have_count(0)


def test_a_decided_case_does_not_make_the_next_page_skip_a_case(console):
    def row(n):
        return {"id": n, "thread_id": n, "reply_id": None, "title": f"Kasus {n}.", "content": "Isi", "image": None,
                "author_name": "Melati", "state": "open", "urgent": False, "reports": [], "appeal": None,
                "reason": None, "created_at": "2026-03-02T00:00:00Z"}  # fmt: skip

    left = [row(n) for n in range(1, 26)]

    def cases(route):
        query = parse_qs(urlsplit(route.request.url).query)
        if route.request.method == "PUT":
            done = left.pop(0)
            return route.fulfill(json={**done, "state": "kept"})
        size, page = int(query["per_page"][0]), int(query["page"][0])
        rows = left[size * (page - 1) : size * page] if query.get("state") == ["open"] else []
        return route.fulfill(json=rows, headers={"X-Total-Count": str(len(left))})

    log_in(console)
    console.get_by_role("heading", name="Hari ini", level=2).wait_for()
    console.route("**/api/admins/moderasi*", cases)
    console.route("**/api/admins/moderasi/*", cases)
    open_tab(console, "Moderasi")
    expect(console.get_by_role("link", name="Menunggu (25)")).to_be_visible()
    expect(console.get_by_role("article")).to_have_count(20)
    first = case_of(console, "Kasus 1.")
    first.get_by_label("Biarkan").check()
    first.get_by_label("Alasan").fill("Diperiksa.")
    first.get_by_role("button", name="Putuskan").click()
    expect(first).to_contain_text("Dibiarkan.")
    console.get_by_role("button", name="Tampilkan berikutnya").click()
    # The decided case has left the list. The console therefore loads page 1 again, which has one new case.
    expect(console.get_by_role("article")).to_have_count(21)
    console.get_by_role("button", name="Tampilkan berikutnya").click()
    expect(console.get_by_role("article")).to_have_count(25)
    expect(console.get_by_text("Itu semuanya.")).to_be_visible()


def test_the_picture_of_a_hidden_post_is_shown_to_the_moderator(console):
    siti, budi, admin = (token(console, username) for username in ("siti", "budi", "admin"))
    (category, *_) = console.request.get("/api/forum/categories").json()
    written = {"title": "Obat bergambar", "content": "Lihat ini!", "category_id": str(category["id"])}
    picture = {"name": "a.jpg", "mimeType": "image/jpeg", "buffer": plain(size=(1600, 900))}
    thread = console.request.post("/api/forum/threads", multipart={**written, "image": picture}, headers=siti).json()
    reported = console.request.post(f"/api/forum/threads/{thread['id']}/lapor", data={"reason": "spam"}, headers=budi)
    assert reported.ok, reported.text()
    (case, *_) = console.request.get("/api/admins/moderasi?q=bergambar", headers=admin).json()
    hidden = {"decision": "hide", "reason": "Diperiksa."}
    assert console.request.put(f"/api/admins/moderasi/{case['id']}", data=hidden, headers=admin).ok
    appeal = console.request.post(f"/api/forum/threads/{thread['id']}/banding", data={"note": "Mengapa?"}, headers=siti)
    assert appeal.ok, appeal.text()
    assert console.request.get(thread["image"]).status == 404
    log_in(console)
    open_tab(console, "Moderasi")
    card = case_of(console, "Obat bergambar")
    shown = card.get_by_role("img", name="Gambar pada utas “Obat bergambar”")
    expect(shown).to_be_visible()
    assert shown.evaluate("(image) => [image.naturalWidth, image.naturalHeight]") == [1600, 900]
    assert shown.bounding_box()["width"] < card.bounding_box()["width"]


# --- the state of the service ---------------------------------------------------------------------------------------


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
    log_in(console)
    open_tab(console, "Layanan")
    shown = console.get_by_role("heading", name="Pengingat dan pesan penting")
    expect(shown).to_be_visible()
    expect(console.get_by_text(re.compile(r"\d+ terkirim, \d+ gagal"))).to_be_visible()
    console.route("**/api/admins/operasi", lambda route: route.abort())
    expect(console.get_by_role("heading", name="Keadaan tidak dapat dibaca")).to_be_visible(timeout=PATIENCE_S * 1000)
    expect(shown).to_be_hidden()
    console.unroute("**/api/admins/operasi")
    expect(shown).to_be_visible(timeout=PATIENCE_S * 1000)


def test_a_refresh_that_times_out_is_shown_as_failed(console):
    log_in(console)
    open_tab(console, "Layanan")
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
    log_in(console)
    open_tab(console, "Layanan")
    console.get_by_role("button", name="Jeda siaran").click()
    expect(console.get_by_text("Dijeda.", exact=True)).to_be_visible()
    expect(console.get_by_role("button", name="Lanjutkan siaran")).to_be_focused()
    console.get_by_role("button", name="Lanjutkan siaran").click()
    expect(console.get_by_text("Berjalan.", exact=True)).to_be_visible()
    open_tab(console, "Catatan")
    expect(console.get_by_text("admin melanjutkan siaran.").first).to_be_visible()


# --- the session ----------------------------------------------------------------------------------------------------


def test_a_refused_login_shows_the_reason(console):
    log_in(console, password="salah-sekali")
    expect(console.get_by_role("status")).to_have_text("Nama pengguna atau kata sandi salah.")
    log_in(console, "siti")
    expect(console.get_by_role("status")).to_contain_text("tidak punya izin")
    expect(console.get_by_role("navigation")).to_be_hidden()
    assert stored(console) == {}


def set_up(page, own):
    setup = page.request.post("/api/profile/otp", data={"password": PASSWORD}, headers=own).json()
    (secret,) = parse_qs(urlsplit(setup["uri"]).query)["secret"]
    assert page.request.put("/api/profile/otp", data={"otp": pyotp.TOTP(secret).now()}, headers=own).ok
    return list(setup["recovery_codes"])


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


def stored(page):
    assert page.evaluate("[localStorage.length, document.cookie]") == [0, ""]
    return dict(page.evaluate("({ ...sessionStorage })"))


def test_a_reload_keeps_the_session_and_the_tab(console):
    with console.expect_response("**/api/login") as answered:
        log_in(console)
    expect(console.get_by_role("heading", name="Hari ini", level=2)).to_be_visible()
    open_tab(console, "Layanan")
    assert stored(console) == {STORED: answered.value.json()["refresh_token"]}
    with console.expect_request("**/api/refresh"):
        console.reload()
    expect(console.get_by_role("heading", name="Layanan", level=2)).to_be_visible()
    assert list(stored(console)) == [STORED]


def test_a_refused_session_is_dropped(console):
    log_in(console)
    expect(console.get_by_role("heading", name="Hari ini", level=2)).to_be_visible()
    console.evaluate(f"sessionStorage.setItem('{STORED}', 'x')")
    console.reload()
    expect(console.get_by_label("Kata sandi")).to_be_visible()
    expect(console.get_by_role("status")).to_contain_text("masuk kembali")
    assert stored(console) == {}


def test_a_reload_without_a_network_keeps_the_session(console):
    log_in(console)
    expect(console.get_by_role("heading", name="Hari ini", level=2)).to_be_visible()
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
    log_in(console)
    expect(console.get_by_role("heading", name="Hari ini", level=2)).to_be_visible()
    open_tab(console, "Pengguna")
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


# --- accessibility --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_no_page_has_an_accessibility_violation(console, axe, size, scheme):
    console.set_viewport_size(size)
    console.emulate_media(color_scheme=scheme)

    def check(name):
        # Playwright injects the accessibility checker axe, because the page's policy forbids foreign scripts.
        assert console.evaluate("document.documentElement.scrollWidth") == size["width"], name
        console.evaluate(axe)
        violations = console.evaluate("axe.run().then((result) => result.violations)")
        assert [(each["id"], each["nodes"][0]["html"]) for each in violations] == [], name

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
    log_in(console)
    expect(console.get_by_role("heading", name="Hari ini", level=2)).to_be_visible()
    for name in TABS[1:]:
        press_until(console, tab(console, name), "Shift+Tab" if name != "Pengguna" else "Tab")
        console.keyboard.press("Enter")
        expect(console.get_by_role("heading", name=name, level=2)).to_be_visible()
