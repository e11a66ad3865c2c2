"""The example client of `docs/client.md` in a browser, served from another origin."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from dev.stack.waiting import PATIENCE_S
from tests.e2e.launcher import Launcher


@pytest.fixture
def context(browser: Browser, tmp_path: Path) -> Iterator[BrowserContext]:
    context = browser.new_context(permissions=["notifications"])
    context.set_default_timeout(PATIENCE_S * 1000)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext, front_end: str, service: Launcher) -> Iterator[Page]:
    """Open the client's page. An uncaught error in its script fails the test."""
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"{front_end}/client.html")
    page.evaluate("(api) => start(api)", f"{service.url}/api")
    yield page
    assert problems == []
