"""The example client of `docs/client.js` in a browser, served from another origin."""

import pytest

from dev.stack.waiting import PATIENCE_S
from tests.browser.client.app import log_in


@pytest.fixture
def context(browser):
    context = browser.new_context(permissions=["notifications"])
    context.set_default_timeout(PATIENCE_S * 1000)
    yield context
    context.close()


@pytest.fixture
def page(context, front_end, service):
    """Open the client's page. An uncaught error in its script fails the test."""
    page = context.new_page()
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"{front_end}/client.html")
    page.evaluate("(api) => start(api)", f"{service.url}/api")
    yield page
    assert problems == []


@pytest.fixture
def logged_in(page):
    log_in(page)
