"""Moderation of reported posts."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.console.page import (
    PASSWORD,
    case_of,
    enter,
    expect_in_log,
    log_in,
    open_tab,
    press_until,
    report,
    tab,
    token,
)
from tests.core.media.samples import plain

pytestmark = pytest.mark.browser


def test_an_urgent_case_shows_instructions_and_is_decided(console):
    thread = report(console, "Tidak kuat lagi", reason="self_harm")["id"]
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


def test_a_case_can_be_decided_with_the_keyboard_only(console):
    siti, budi = token(console, "siti"), token(console, "budi")
    thread = report(console, "Obat ajaib dari konsol")["id"]
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
    expect_in_log(console, f"admin menyembunyikan tulisan nomor {thread}.")
    open_tab(console, "Hari ini")
    console.get_by_role("link", name="Periksa banding").click()
    expect(case).to_contain_text("Banding penulis: Teh biasa.")


def test_typed_text_about_a_case_stays_when_another_case_is_decided(console):
    for title in ("Jamu sakti pertama", "Jamu sakti kedua"):
        report(console, title)
    enter(console, "Moderasi")
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
    siti, admin = token(console, "siti"), token(console, "admin")
    picture = {"name": "a.jpg", "mimeType": "image/jpeg", "buffer": plain(size=(1600, 900))}
    thread = report(console, "Obat bergambar", image=picture)
    (case, *_) = console.request.get("/api/admins/moderasi?q=bergambar", headers=admin).json()
    hidden = {"decision": "hide", "reason": "Diperiksa."}
    assert console.request.put(f"/api/admins/moderasi/{case['id']}", data=hidden, headers=admin).ok
    appeal = console.request.post(f"/api/forum/threads/{thread['id']}/banding", data={"note": "Mengapa?"}, headers=siti)
    assert appeal.ok, appeal.text()
    assert console.request.get(thread["image"]).status == 404
    enter(console, "Moderasi")
    card = case_of(console, "Obat bergambar")
    shown = card.get_by_role("img", name="Gambar pada utas “Obat bergambar”")
    expect(shown).to_be_visible()
    assert shown.evaluate("(image) => [image.naturalWidth, image.naturalHeight]") == [1600, 900]
    assert shown.bounding_box()["width"] < card.bounding_box()["width"]
