"""Actions of people in an application that uses the example client."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from playwright.sync_api import Page

PASSWORD = "rahasia123"


#: Headers that let a page of another origin read the response.
READABLE = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Retry-After",
            "Content-Type": "application/json"}  # fmt: skip


def log_in(page: Page, username: str = "siti") -> None:
    page.evaluate("([name, password]) => client.login(name, password)", [username, PASSWORD])


def reminder(title: str, seconds: int) -> dict[str, Any]:
    due = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=seconds)
    return {"tipe": "terapi", "judul": title, "waktu": due.isoformat(), "details": {}}


def own(page: Page, title: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = page.evaluate("client.get('/pengingat')")
    return [row for row in rows if row["judul"] == title]


def open_again(page: Page) -> None:
    """Reload the page. The access token is lost, and stored data is kept."""
    api = page.evaluate("client.api")
    page.reload()
    page.evaluate("(api) => start(api)", api)


def another_tab(page: Page) -> Page:
    tab = page.context.new_page()
    tab.goto(page.url)
    tab.evaluate("(api) => start(api)", page.evaluate("client.api"))
    return tab
