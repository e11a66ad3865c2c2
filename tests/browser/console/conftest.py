"""The console in Chromium."""

import pytest

from tests.browser.conftest import watched


@pytest.fixture
def console(browser, service):
    """Open the console. Its addresses with `blob:` contain data of the page itself."""
    own = (service.url, f"blob:{service.url}")
    # Chromium prints an error for each request that the service refuses. The page shows these refusals itself.
    refused = "Failed to load resource"
    with watched(browser, own, ignored=refused, base_url=service.url, locale="id-ID") as page:
        page.goto("/console")
        yield page
