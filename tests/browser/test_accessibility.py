"""Accessibility of the developers' pages, on a phone, on a desktop computer and in dark mode."""

import pytest

from tests.browser.screens import DESKTOP, PHONE

pytestmark = pytest.mark.browser

PAGES = ("/", "/dev/outbox", "/dev/push", "/dev/today", "/dev/reset-password?code=x")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
@pytest.mark.parametrize("path", PAGES)
def test_pages_have_no_accessibility_violation_and_no_horizontal_scroll(page, violations, path, size, scheme):
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme)
    page.goto(path)
    for details in page.locator("summary").all():
        details.click()
    assert page.evaluate("document.documentElement.scrollWidth") == size["width"]
    assert violations(page) == []


def test_an_open_section_stays_open_after_the_page_refreshes(page):
    page.goto("/dev/outbox")
    page.locator("#later summary").click()
    asked = page.request.get("/api/send-verification-code", params={"phone": "081234567890"})
    assert asked.ok, asked.text()
    page.get_by_text("reset-password").first.wait_for()
    assert page.locator("#later").get_attribute("open") is not None
    assert page.evaluate("document.activeElement.id") == "later-summary"
