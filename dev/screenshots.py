"""Generator of the documentation's screenshots: `python -m dev.screenshots`, while `make run` runs.

The generator uses Chromium and the program `pdftoppm` of poppler. The WebP files in docs/ have a few dozen KiB each.
"""

from __future__ import annotations

import io
import os
import subprocess
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, ViewportSize, sync_playwright

from config import ROOT
from dev.system_packages import require

DOCS = ROOT / "docs"

DESKTOP, PHONE = ViewportSize(width=1100, height=900), ViewportSize(width=360, height=740)

#: Screenshots: file name, path, size in pixels, colour scheme.
PAGES: tuple[tuple[str, str, Any, Any], ...] = (
    ("api-docs", "/api/docs/", DESKTOP, "light"),
    ("outbox", "/dev/outbox", DESKTOP, "light"),
    ("outbox-phone", "/dev/outbox", PHONE, "dark"),
)
REPORT = "/api/admins/export/users?format=pdf"
QUALITY = 80


def main() -> None:
    here = f"http://127.0.0.1:{os.environ.get('PORT', '8000')}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(require("chromium")), args=["--no-sandbox"])
        _something_to_show(browser, here)
        for name, path, size, scheme in PAGES:
            page = browser.new_page(base_url=here, viewport=size, color_scheme=scheme)
            page.goto(path, wait_until="networkidle" if name == "api-docs" else "load")
            _save(name, page.screenshot())
        _take_console(browser, here)
        _save("report", _first_page(_report(browser, here)))
        browser.close()


def _something_to_show(browser: Browser, here: str) -> None:
    """Send a message, so that the outbox page is not empty."""
    page = browser.new_page(base_url=here)
    page.request.get("/api/send-verification-code", params={"phone": "081234567890"})
    page.goto("/dev/outbox")
    page.locator(".state.sent").first.wait_for()


#: Screenshots of the console: file name, fragment of the URL after `#`, text to wait for, size, colour scheme.
CONSOLE: tuple[tuple[str, str, str, Any, Any], ...] = (
    ("console", "hari-ini", "pasien terdaftar", DESKTOP, "light"),
    ("console-people", "pengguna/belum", "ditemukan", DESKTOP, "light"),
    ("console-moderation", "moderasi", "Utas nomor", DESKTOP, "light"),
    ("console-reports", "laporan", "Pendaftar baru", DESKTOP, "light"),
    ("console-phone", "hari-ini", "pasien terdaftar", PHONE, "dark"),
)


def _take_console(browser: Browser, here: str) -> None:
    context = browser.new_context(base_url=here, locale="id-ID", timezone_id="Asia/Jakarta")
    page = context.new_page()
    page.goto("/console")
    page.get_by_label("Nama pengguna").fill("admin")
    page.get_by_label("Kata sandi").fill("rahasia123")
    page.get_by_role("button", name="Masuk").click()
    for name, tab, text, size, scheme in CONSOLE:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        page.goto(f"/console#{tab}")
        page.get_by_text(text).first.wait_for()
        if name == "console-people":
            page.get_by_role("button", name="Akhiri semua sesi").first.click()
        page.wait_for_timeout(300)
        _save(name, page.screenshot())
    context.close()


def _report(browser: Browser, here: str) -> bytes:
    request = browser.new_page(base_url=here).request
    tokens = request.post("/api/login", data={"username": "admin", "password": "rahasia123"}).json()
    return request.get(REPORT, headers={"Authorization": f"Bearer {tokens['access_token']}"}).body()


def _first_page(pdf: bytes) -> bytes:
    command = ["pdftoppm", "-png", "-r", "80", "-f", "1", "-l", "1", "-"]
    return subprocess.run(command, input=pdf, check=True, capture_output=True).stdout


def _save(name: str, png: bytes) -> None:
    path = DOCS / f"{name}.webp"
    Image.open(io.BytesIO(png)).convert("RGB").save(path, quality=QUALITY, method=6)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
