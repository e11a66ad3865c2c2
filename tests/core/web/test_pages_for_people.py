"""Responses for unknown addresses: a small page for a browser, JSON for a program."""

import re

from tests.helpers.client import assert_error
from tests.helpers.language import assert_readable

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
UNKNOWN = ["/nowhere", "/api/nowhere", "/k/", "/k/a/b", "/api/forum/threads/abc", "/console/x"]


def test_a_browser_gets_an_html_404_page_for_an_unknown_path(client):
    for path in UNKNOWN:
        response = client.app.test_client().get(path, headers={"Accept": BROWSER})
        assert (response.status_code, response.mimetype) == (404, "text/html"), path
        assert_small(response.text)
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["Content-Security-Policy"].startswith("default-src 'none'; style-src 'sha256-")
        assert response.headers["X-Request-ID"]


#: Headers that do not prefer HTML to JSON.
PROGRAMS = (
    None, "*/*", "application/json", "application/json, text/html", "text/html;q=0.5, */*;q=0.8", "text/html;q=x, ,;",
)  # fmt: skip


def test_a_program_gets_a_json_404_for_an_unknown_path(client):
    for accept in PROGRAMS:
        headers = {"Accept": accept} if accept else {}
        for path in ("/nowhere", "/k/a/b"):
            assert_error(client.app.test_client().get(path, headers=headers), 404, "route_not_found")


def test_a_missing_record_a_405_and_a_401_are_json_for_a_browser(client):
    for method, path, status in (("GET", "/roles/999", 404), ("GET", "/login", 405), ("GET", "/profile", 401)):
        assert_error(client.open(method, path, headers={"Accept": BROWSER}), status)


def test_an_unknown_link_is_an_html_404_page_for_browser_and_program(client):
    for accept in (BROWSER, "application/json"):
        response = client.app.test_client().get("/k/unknown", headers={"Accept": accept})
        assert (response.status_code, response.mimetype) == (404, "text/html")
        assert_small(response.text)


def assert_small(page):
    """Assert that a page has a heading, one short paragraph, at most one link, and the emergency number."""
    assert page.count("<h1>") == 1
    assert page.count("<a ") <= 1
    paragraphs = [text.strip() for text in re.findall(r"<p[^>]*>([^<]+)</p>", page)]
    assert len(paragraphs) == 2
    assert "119 atau 112" in paragraphs[-1]
    assert_readable(paragraphs[0])
    assert len(page) < 3500
