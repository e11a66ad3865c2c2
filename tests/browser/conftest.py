"""Fixtures with Chromium, and with the service of `make run`. An error on a page fails the test."""

import gzip
import hashlib
import shutil
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect, sync_playwright

from config import ROOT
from dev.stack.waiting import PATIENCE_S
from dev.system_packages import require
from tests.e2e.launcher import Launcher, copy_checkout

expect.set_options(timeout=PATIENCE_S * 1000)


AXE = Path(__file__).with_name("axe")


@pytest.fixture(scope="session")
def axe():
    code = gzip.decompress((AXE / "axe.min.js.gz").read_bytes())
    assert (AXE / "SHA256SUMS").read_text().split()[0] == hashlib.sha256(code).hexdigest()
    return code.decode()


@pytest.fixture(scope="session")
def chromium():
    return str(require("chromium"))


@pytest.fixture(scope="session")
def front_end(tmp_path_factory):
    """Serve a page with `docs/client.js` and `docs/sw.js` from another origin, and yield that origin."""
    folder = tmp_path_factory.mktemp("front_end")
    shutil.copytree(Path(__file__).with_name("front_end"), folder, dirs_exist_ok=True)
    for name in ("client.js", "sw.js"):
        shutil.copy(ROOT / "docs" / name, folder)
    pages = partial(SimpleHTTPRequestHandler, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), pages) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def service(chromium, front_end, tmp_path_factory):
    with Launcher(copy_checkout(tmp_path_factory.mktemp("browser") / "checkout"), CORS_ORIGINS=front_end) as launcher:
        yield launcher


@pytest.fixture(scope="session")
def browser(chromium):
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
                 "--disable-component-update", "--disable-sync"]  # fmt: skip
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        yield browser
        browser.close()


@pytest.fixture
def page(browser, service, tmp_path):
    """Open a page in a new browser context.

    A console error, an exception or a request to another host fails the test.
    """
    context = browser.new_context(base_url=service.url)
    context.set_default_timeout(PATIENCE_S * 1000)
    page = context.new_page()
    problems = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: problems.append(request.url) if _is_elsewhere(request.url) else None)
    yield page
    context.close()
    assert problems == []


def _is_elsewhere(url):
    parts = urlsplit(url)
    return parts.scheme not in ("data", "blob") and parts.hostname not in ("127.0.0.1", "localhost")
