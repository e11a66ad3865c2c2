"""Actions on the pages of the console, and requests of people to the service."""

from functools import cache
from urllib.parse import parse_qs, urlsplit

import pyotp
import requests
from playwright.sync_api import expect

from dev.stack.waiting import PATIENCE_S

PASSWORD = "rahasia123"
TABS = ("Hari ini", "Pengguna", "Moderasi", "Laporan", "Layanan", "Catatan", "Akun")
#: The only key that the page uses in the browser's storage.
STORED = "console.refresh_token"


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


def enter(page, name="Hari ini", username="admin"):
    """Log in and open a tab."""
    log_in(page, username)
    expect(page.get_by_role("heading", name="Hari ini", level=2)).to_be_visible()
    if name != "Hari ini":
        open_tab(page, name)


def expect_in_log(page, sentence):
    open_tab(page, "Catatan")
    expect(page.get_by_text(sentence).first).to_be_visible()


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


def report(page, title, reason="spam", **files):
    """Create a thread of Siti, report it as Budi, and return its record."""
    siti, budi = token(page, "siti"), token(page, "budi")
    (category, *_) = page.request.get("/api/forum/categories").json()
    written = {"title": title, "content": "Sembuh sehari!", "category_id": str(category["id"]), **files}
    thread = page.request.post("/api/forum/threads", multipart=written, headers=siti).json()
    reported = page.request.post(f"/api/forum/threads/{thread['id']}/lapor", data={"reason": reason}, headers=budi)
    assert reported.ok, reported.text()
    return thread


def case_of(page, title):
    return page.get_by_role("article").filter(has_text=title)


def press_until(page, wanted, key="Tab"):
    for _ in range(200):
        if wanted.evaluate("(node) => node === document.activeElement"):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{wanted} is not reached by {key}")


def set_up(page, own):
    setup = page.request.post("/api/profile/otp", data={"password": PASSWORD}, headers=own).json()
    (secret,) = parse_qs(urlsplit(setup["uri"]).query)["secret"]
    assert page.request.put("/api/profile/otp", data={"otp": pyotp.TOTP(secret).now()}, headers=own).ok
    return list(setup["recovery_codes"])


def stored(page):
    assert page.evaluate("[localStorage.length, document.cookie]") == [0, ""]
    return dict(page.evaluate("({ ...sessionStorage })"))
