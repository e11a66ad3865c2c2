"""The console in Chromium."""

import pytest

from dev.stack.waiting import PATIENCE_S


@pytest.fixture
def console(browser, service, tmp_path):
    """Open the console in a new browser context. A script error or a request to another host fails the test."""
    context = browser.new_context(base_url=service.url, locale="id-ID")
    context.set_default_timeout(PATIENCE_S * 1000)
    page = context.new_page()
    problems = []
    # Chromium prints an error for each request that the service refuses. The page shows these refusals itself.
    refused = "Failed to load resource"
    page.on(
        "console",
        lambda line: problems.append(line.text) if line.type == "error" and not line.text.startswith(refused) else None,
    )
    page.on("pageerror", lambda error: problems.append(str(error)))
    own = (service.url, f"blob:{service.url}")  # `blob:` addresses contain data of the page itself
    page.on("request", lambda request: None if request.url.startswith(own) else problems.append(request.url))
    page.goto("/console")
    yield page
    context.close()
    assert problems == []
