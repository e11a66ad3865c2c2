"""The start page, the API documentation and the outbox in a browser."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_the_start_page_links_to_the_api_documentation(page):
    page.goto("/")
    expect(page.get_by_role("heading", name="Health-support service")).to_be_visible()
    page.get_by_role("link", name="API documentation").click()
    expect(page).to_have_url(re.compile("/api/docs/"))
    expect(page.get_by_text("accounts", exact=True).first).to_be_visible()


def execute(operation):
    """Call a route from its documentation, and return the response."""
    operation.locator(".opblock-summary-control").click()
    operation.get_by_role("button", name="Try it out").click()
    operation.get_by_role("button", name="Execute").click()
    return operation.locator(".live-responses-table .response").first


def test_a_route_is_called_from_its_documentation(page):
    page.goto("/api/docs/")
    page.locator("#operations-tag-accounts").click()
    answer = execute(page.locator(".opblock", has_text="/api/provinces"))
    expect(answer).to_contain_text("200")
    expect(answer).to_contain_text("Papua Barat Daya")


def test_a_login_in_the_documentation_authorizes_the_next_call(page):
    page.goto("/api/docs/")
    page.locator("#operations-tag-accounts").click()
    expect(execute(page.locator("#operations-accounts-login"))).to_contain_text("access_token")
    expect(execute(page.locator("#operations-accounts-getProfile"))).to_contain_text("Siti Aminah")


def test_a_forgotten_password_is_reset_by_a_link_in_the_outbox(page, service):
    asked = page.request.get("/api/send-verification-code", params={"phone": "081298765432"})
    assert asked.ok, asked.text()
    page.goto("/dev/outbox")
    link = page.get_by_role("link", name=re.compile("reset-password")).first
    expect(link).to_be_visible()
    href = link.get_attribute("href") or ""
    assert re.fullmatch(rf"http://localhost:{service.port}/dev/reset-password\?code=[\w-]+", href)
    page.goto(href)
    page.locator("input[type=password]").first.fill("sandi-baru-1")
    page.get_by_role("button").click()
    expect(page.get_by_text(re.compile("berhasil", re.IGNORECASE))).to_be_visible()
    login = page.request.post("/api/login", data={"username": "budi", "password": "sandi-baru-1"})
    assert login.status == 200, login.text()
