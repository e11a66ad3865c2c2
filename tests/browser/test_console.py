"""The operators' page: by keyboard, on a phone, in the dark; what it can do, and what nobody else can do with it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pyotp
import pytest
import requests
from playwright.sync_api import Browser, Page, Route, expect

from dev.stack.waiting import PATIENCE_S
from tests.browser.screens import DESKTOP, PHONE
from tests.core.media.samples import plain
from tests.e2e.launcher import Launcher

pytestmark = pytest.mark.browser


PASSWORD = "rahasia123"


@pytest.fixture
def console(browser: Browser, service: Launcher, tmp_path: Path) -> Iterator[Page]:
    """The page in a fresh browser. An error in its script, or a request to anybody else, fails the test."""
    context = browser.new_context(base_url=service.url, locale="id-ID")
    context.set_default_timeout(PATIENCE_S * 1000)
    page = context.new_page()
    problems: list[str] = []
    # Chromium writes a line for each refused call, which the page itself tells the person.
    refused = "Failed to load resource"
    page.on(
        "console",
        lambda line: problems.append(line.text) if line.type == "error" and not line.text.startswith(refused) else None,
    )
    page.on("pageerror", lambda error: problems.append(str(error)))
    own = (service.url, f"blob:{service.url}")  # the second: what the page itself has fetched
    page.on("request", lambda request: None if request.url.startswith(own) else problems.append(request.url))
    page.goto("/console")
    yield page
    context.close()
    assert problems == []


@cache
def _logged_in(url: str, username: str) -> str:
    """One login a person: an address may log in sixty times a minute."""
    answer = requests.post(f"{url}/api/login", json={"username": username, "password": PASSWORD}, timeout=PATIENCE_S)
    assert answer.ok, answer.text
    return str(answer.json()["access_token"])


def token(page: Page, username: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {_logged_in(page.url.removesuffix('/console'), username)}"}


def log_in(page: Page, username: str = "admin", password: str = PASSWORD) -> None:
    page.get_by_label("Nama pengguna").fill(username)
    page.get_by_label("Kata sandi").fill(password)
    page.get_by_role("button", name="Masuk").click()


def open_tab(page: Page, name: str) -> None:
    page.get_by_role("navigation").get_by_role("button", name=name, exact=True).click()
    expect(page.get_by_role("heading", name=name, level=2)).to_be_visible()


def test_it_shows_how_the_service_is(console: Page) -> None:
    log_in(console)
    expect(console.get_by_role("heading", name="Antrean urgent")).to_be_visible()
    expect(console.get_by_role("img", name="Jatuh tempo di antrean urgent")).to_be_visible()
    expect(console.get_by_role("heading", name="Terkirim")).to_be_visible()


def test_it_goes_on_looking_after_a_look_that_failed(console: Page) -> None:
    log_in(console)
    expect(console.get_by_role("heading", name="Antrean urgent")).to_be_visible()
    console.route("**/api/admins/operasi", lambda route: route.abort())
    expect(console.get_by_role("heading", name="Keadaan tidak dapat dibaca")).to_be_visible(timeout=PATIENCE_S * 1000)
    expect(console.get_by_role("heading", name="Antrean urgent")).to_be_hidden()
    console.unroute("**/api/admins/operasi")
    expect(console.get_by_role("heading", name="Antrean urgent")).to_be_visible(timeout=PATIENCE_S * 1000)


def test_a_look_that_is_not_answered_is_one_that_failed(console: Page) -> None:
    log_in(console)
    expect(console.get_by_text("Dibaca ")).to_be_visible()
    console.evaluate(NO_ANSWER)
    expect(console.get_by_role("heading", name="Keadaan tidak dapat dibaca")).to_be_visible()


#: The network swallows what is asked, and the time that a look is given passes at once.
NO_ANSWER = """() => {
  const { setTimeout } = window;
  window.setTimeout = (work, ms) => setTimeout(work, ms === 15000 ? 0 : ms);
  window.fetch = (url, { signal }) => new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}"""


def test_wrong_passwords_and_other_roles_are_told_why(console: Page) -> None:
    log_in(console, password="salah-sekali")
    expect(console.get_by_role("status")).to_have_text("Nama pengguna atau kata sandi salah.")
    log_in(console, "siti")
    expect(console.get_by_role("status")).to_contain_text("tidak berhak")
    expect(console.get_by_role("navigation")).to_be_hidden()


def test_a_login_with_a_second_factor(console: Page) -> None:
    own = token(console, "superadmin")
    setup = console.request.post("/api/profile/otp", data={"password": PASSWORD}, headers=own).json()
    (secret,) = parse_qs(urlsplit(setup["uri"]).query)["secret"]
    totp = pyotp.TOTP(secret)
    assert console.request.put("/api/profile/otp", data={"otp": totp.now()}, headers=own).ok
    try:
        log_in(console, "superadmin")
        expect(console.get_by_label("Kode verifikasi")).to_be_focused()
        console.get_by_label("Kode verifikasi").fill(setup["recovery_codes"][0])
        console.keyboard.press("Enter")
        expect(console.get_by_role("heading", name="Keadaan")).to_be_visible()
    finally:
        gone = {"password": PASSWORD, "otp": setup["recovery_codes"][1]}
        assert console.request.delete("/api/profile/otp", data=gone, headers=own).ok


def test_why_a_message_did_not_arrive(console: Page) -> None:
    log_in(console)
    open_tab(console, "Pengiriman")
    console.get_by_label("Nama, nama pengguna").fill("siti")
    console.get_by_role("button", name="Cari").click()
    console.get_by_role("button", name="Lihat pengiriman").first.click()
    expect(console.get_by_text("Pesan: ").first).to_be_visible()


def test_older_deliveries_follow_the_latest(console: Page) -> None:
    part = {
        "channel": "message",
        "status": "failed",
        "at": "2026-03-02T00:00:00Z",
        "reason": "Saluran ini Anda matikan.",
    }
    asked: list[str] = []

    def rows(route: Route) -> None:
        asked.append(route.request.url.partition("?")[2])
        row = {"kind": "reminder" if len(asked) == 1 else "stock", "due_at": "2026-03-02T00:00:00Z", "channels": [part]}
        route.fulfill(json=[row] * (50 if len(asked) == 1 else 1))

    console.route("**/admins/users/*/pengiriman?*", rows)
    log_in(console)
    open_tab(console, "Pengiriman")
    console.get_by_label("Nama, nama pengguna").fill("siti")
    console.get_by_role("button", name="Cari").click()
    console.get_by_role("button", name="Lihat pengiriman").first.click()
    expect(console.get_by_role("heading", name="Pengingat,")).to_have_count(50)
    console.get_by_role("button", name="Yang lebih lama").click()
    expect(console.get_by_role("heading", name="Persediaan obat,")).to_have_count(1)
    expect(console.get_by_role("heading", name="Pengingat,")).to_have_count(50)
    expect(console.get_by_text("Itu semuanya.")).to_be_visible()
    expect(console.get_by_text("Yang dibacanya: “Saluran ini Anda matikan.”").first).to_be_visible()
    assert asked == ["per_page=50&page=1", "per_page=50&page=2"]


def test_broadcasts_are_paused_and_go_on(console: Page) -> None:
    log_in(console)
    open_tab(console, "Siaran dan pengirim")
    console.get_by_role("button", name="Jeda siaran").click()
    expect(console.get_by_text("Dijeda.")).to_be_visible()
    expect(console.get_by_role("main")).to_be_focused()
    console.get_by_role("button", name="Lanjutkan siaran").click()
    expect(console.get_by_text("Berjalan.")).to_be_visible()
    open_tab(console, "Audit")
    expect(console.get_by_text("admin: broadcasts_resumed, broadcasts").first).to_be_visible()


def test_a_case_is_decided_by_keyboard_alone(console: Page) -> None:
    siti, budi = token(console, "siti"), token(console, "budi")
    (category, *_) = console.request.get("/api/forum/categories").json()
    thread = console.request.post(
        "/api/forum/threads",
        data={"title": "Obat ajaib dari konsol", "content": "Sembuh sehari!", "category_id": category["id"]},
        headers=siti,
    ).json()
    reported = console.request.post(f"/api/forum/threads/{thread['id']}/lapor", data={"reason": "spam"}, headers=budi)
    assert reported.ok, reported.text()
    console.keyboard.type("admin")
    console.keyboard.press("Tab")
    console.keyboard.type(PASSWORD)
    console.keyboard.press("Enter")
    expect(console.get_by_role("heading", name="Keadaan")).to_be_visible()
    tab = console.get_by_role("navigation").get_by_role("button", name="Moderasi")
    for _ in range(20):
        if tab.evaluate("(node) => node === document.activeElement"):
            break
        console.keyboard.press("Tab")
    console.keyboard.press("Enter")
    case = console.get_by_role("article").filter(has_text="Obat ajaib dari konsol")
    expect(case).to_be_visible()
    first = case.get_by_role("radio").first
    for _ in range(200):
        if first.evaluate("(node) => node === document.activeElement"):
            break
        console.keyboard.press("Tab")
    console.keyboard.press("ArrowRight")  # from "Biarkan" to "Sembunyikan"
    console.keyboard.press("Tab")
    console.keyboard.type("Mengiklankan obat tanpa izin edar.")
    console.keyboard.press("Enter")
    expect(case).to_contain_text("Disembunyikan.")
    expect(case).to_be_focused()
    expect(case.get_by_role("button")).to_have_count(0)
    shown = console.request.get(f"/api/forum/threads/{thread['id']}", headers=budi).json()
    assert shown["title"] == "[disembunyikan moderator]"
    appeal = console.request.post(
        f"/api/forum/threads/{thread['id']}/banding", data={"note": "Teh biasa."}, headers=siti
    )
    assert appeal.ok, appeal.text()
    open_tab(console, "Audit")
    open_tab(console, "Moderasi")
    expect(case).to_contain_text("Banding: Teh biasa.")


def test_what_is_typed_about_one_case_stays_when_another_is_decided(console: Page) -> None:
    siti, budi = token(console, "siti"), token(console, "budi")
    (category, *_) = console.request.get("/api/forum/categories").json()
    for title in ("Jamu sakti pertama", "Jamu sakti kedua"):
        written = {"title": title, "content": "Beli!", "category_id": category["id"]}
        thread = console.request.post("/api/forum/threads", data=written, headers=siti).json()
        assert console.request.post(
            f"/api/forum/threads/{thread['id']}/lapor", data={"reason": "spam"}, headers=budi
        ).ok
    log_in(console)
    open_tab(console, "Moderasi")
    first, second = (
        console.get_by_role("article").filter(has_text=title) for title in ("Jamu sakti pertama", "Jamu sakti kedua")
    )
    second.get_by_label("Alasan").fill("Iklan jamu.")
    first.get_by_label("Alasan").fill("Bukan iklan.")
    first.get_by_role("button", name="Putuskan").click()
    expect(first).to_contain_text("Dibiarkan.")
    expect(second.get_by_label("Alasan")).to_have_value("Iklan jamu.")
    second.get_by_role("button", name="Putuskan").click()
    expect(second).to_contain_text("Dibiarkan.")
    open_tab(console, "Audit")
    open_tab(console, "Moderasi")
    expect(first).to_have_count(0)


def test_the_picture_of_a_hidden_post_is_shown_to_whoever_decides(console: Page) -> None:
    siti, budi, admin = (token(console, username) for username in ("siti", "budi", "admin"))
    (category, *_) = console.request.get("/api/forum/categories").json()
    written = {"title": "Obat bergambar", "content": "Lihat ini!", "category_id": str(category["id"])}
    picture = {"name": "a.jpg", "mimeType": "image/jpeg", "buffer": plain(size=(1600, 900))}
    thread = console.request.post("/api/forum/threads", multipart={**written, "image": picture}, headers=siti).json()
    hidden = {"thread_id": thread["id"], "decision": "hide", "reason": "Diperiksa."}
    assert console.request.post("/api/admins/moderasi", data=hidden, headers=admin).ok
    urgent = {"reason": "self_harm"}  # which opens even what is decided
    reported = console.request.post(f"/api/forum/threads/{thread['id']}/lapor", data=urgent, headers=budi)
    assert reported.ok, reported.text()
    assert console.request.get(thread["image"]).status == 404
    log_in(console)
    open_tab(console, "Moderasi")
    case = console.get_by_role("article").filter(has_text="Obat bergambar")
    shown = case.get_by_role("img", name="Gambar pada utas “Obat bergambar”")
    expect(shown).to_be_visible()
    assert shown.evaluate("(image) => [image.naturalWidth, image.naturalHeight]") == [1600, 900]
    assert shown.bounding_box()["width"] < case.bounding_box()["width"]  # type: ignore[index]


def test_a_reload_ends_the_session_and_nothing_is_stored(console: Page) -> None:
    log_in(console)
    expect(console.get_by_role("heading", name="Keadaan")).to_be_visible()
    stored = console.evaluate("[localStorage.length, sessionStorage.length, document.cookie]")
    assert stored == [0, 0, ""]
    console.reload()
    expect(console.get_by_label("Kata sandi")).to_be_visible()


def test_logging_out_ends_the_session_at_the_service(console: Page) -> None:
    log_in(console)
    with console.expect_request("**/api/admins/operasi") as asked:
        open_tab(console, "Keadaan")
    used = {"Authorization": asked.value.headers["authorization"]}
    assert console.request.get("/api/profile", headers=used).ok
    console.get_by_role("button", name="Keluar").click()
    expect(console.get_by_label("Kata sandi")).to_be_visible()
    assert console.request.get("/api/profile", headers=used).status == 401


def test_an_access_token_that_has_ended_is_refreshed_once_for_all(console: Page) -> None:
    refreshed: list[str] = []
    console.on("request", lambda request: refreshed.append(request.url) if request.url.endswith("/refresh") else None)
    log_in(console)
    expect(console.get_by_role("heading", name="Keadaan")).to_be_visible()
    console.evaluate("session.access_token = 'x.y.z'")
    open_tab(console, "Audit")
    expect(console.locator(".card").first).to_be_visible()
    assert len(refreshed) == 1


def test_another_origin_can_neither_frame_nor_read_it(console: Page, service: Launcher) -> None:
    elsewhere = service.url.replace("127.0.0.1", "localhost")
    assert elsewhere != service.url
    answer = console.request.get("/console")
    assert answer.headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    call = console.request.get(
        "/api/admins/operasi", headers={"Origin": "https://jahat.example", **token(console, "admin")}
    )
    assert "access-control-allow-origin" not in call.headers


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_axe_finds_nothing_on_any_of_its_pages(console: Page, axe: str, size: dict, scheme: str) -> None:
    console.set_viewport_size(size)
    console.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    log_in(console)
    # The policy of the page lets no foreign script in, so the tool comes by the debugger's way.
    for name in ("Keadaan", "Pengiriman", "Siaran dan pengirim", "Moderasi", "Audit"):
        open_tab(console, name)
        assert console.evaluate("document.documentElement.scrollWidth") == size["width"], name
        console.evaluate(axe)
        violations = console.evaluate("axe.run().then((result) => result.violations)")
        assert [(each["id"], each["nodes"][0]["html"]) for each in violations] == [], name
