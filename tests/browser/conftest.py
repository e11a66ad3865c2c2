"""Fixtures with Chromium, and with the service of `make run`. An error on a page fails the test."""

import gzip
import hashlib
import shutil
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import expect, sync_playwright

from config import ROOT
from dev.stack.waiting import PATIENCE_S
from dev.system_packages import require
from tests.e2e.launcher import Launcher, copy_checkout

expect.set_options(timeout=PATIENCE_S * 1000)


AXE = Path(__file__).with_name("axe")


@pytest.fixture(scope="session")
def violations():
    """Return a function that returns what the accessibility checker axe finds on a page."""
    code = gzip.decompress((AXE / "axe.min.js.gz").read_bytes())
    assert (AXE / "SHA256SUMS").read_text().split()[0] == hashlib.sha256(code).hexdigest()

    def violations(page):
        # Playwright injects the checker, because the policy of a page forbids foreign scripts.
        page.evaluate(code.decode())
        found = page.evaluate("axe.run().then((result) => result.violations)")
        return [(each["id"], each["nodes"][0]["html"]) for each in found]

    return violations


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


@contextmanager
def watched(browser, own, *, ignored=(), **options):
    """Yield a page in a new browser context.

    A console error, an exception or a request whose address does not begin with one of `own` fails the test.
    """
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE_S * 1000)
    page = context.new_page()
    problems = []
    page.on("console", lambda line: problems.append(line.text) if line.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith(own) else problems.append(request.url))
    yield page
    context.close()
    assert [problem for problem in problems if not problem.startswith(ignored)] == []


@pytest.fixture
def page(browser, service):
    with watched(browser, ("http://127.0.0.1:", "http://localhost:", "data:", "blob:"), base_url=service.url) as page:
        yield page
