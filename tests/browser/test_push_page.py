"""The developers' page for web push, with a real service worker but without the browser's push service."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.screens import deliver_push

pytestmark = pytest.mark.browser


def test_the_page_runs_its_service_worker_and_shows_a_push(page):
    page.goto("/dev/push")
    expect(page.locator("#worker")).to_contain_text(re.compile("activat"))
    deliver_push(page, json.dumps({"title": "Pengingat", "body": "Waktunya minum Metformin."}))
    expect(page.locator("#received li").first).to_contain_text("Waktunya minum Metformin.")


def test_the_page_requests_permission_and_tries_to_subscribe(browser, service):
    # Chromium prints a console error about push in a private window. The `page` fixture would fail the test for this
    # error, so the test opens its own page.
    context = browser.new_context(base_url=service.url, permissions=["notifications"])
    page = context.new_page()
    page.goto("/dev/push")
    page.get_by_role("button", name="Log in and subscribe").click()
    # The last step of the page fails here, because the browser has no push service. All earlier steps must work.
    expect(page.locator("#step")).to_have_text(re.compile("subscribed|failed: .*(push service|[Rr]egistration)"))
    expect(page.locator("#permission")).to_have_text("granted")
    context.close()


def test_a_refused_permission_is_reported(page):
    page.goto("/dev/push")
    page.get_by_role("button", name="Log in and subscribe").click()
    expect(page.locator("#step")).to_have_text(re.compile("the permission was not given"))
