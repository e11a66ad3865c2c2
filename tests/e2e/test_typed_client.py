"""Tools that read the OpenAPI document: two linters without findings, and a strict TypeScript client.

`make client` and `make test-all` install the npm packages that these tests need.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from flask import Flask

from app.core.web.blueprint import api
from config import ROOT
from dev.simulators import Server
from dev.stack.processes import Stack

CLIENT = ROOT / "dev" / "client"
PAGE = (ROOT / "docs" / "front-end.md").read_text()

pytestmark = [pytest.mark.takes(seconds=40), pytest.mark.processes]


@pytest.fixture(scope="module")
def document(real_app: Flask) -> Path:
    """Write the document to the file that the linters' settings name."""
    file = CLIENT / "build" / "openapi.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(api.spec.to_dict()))
    return file


def run(*command: str) -> str:
    done = subprocess.run(command, cwd=CLIENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def package(name: str) -> str:
    return str(CLIENT / "node_modules" / ".bin" / name)


def test_redocly_finds_nothing(document: Path) -> None:
    said = run(package("redocly"), "lint", "build/openapi.json", "--format", "json")
    totals = json.loads(said)["totals"]
    assert totals["errors"] == totals["warnings"] == 0, said


def test_spectral_finds_nothing(document: Path) -> None:
    run(package("spectral"), "lint", "--fail-severity", "hint", "build/openapi.json")


@pytest.fixture(scope="module")
def book(document: Path) -> Path:
    """Return a folder with `schema.ts`, made by the documented command."""
    (command,) = re.findall(r"`npx openapi-typescript \S+ (--default-non-nullable false) -o schema.ts`", PAGE)
    folder = document.parent / "book"
    folder.mkdir(exist_ok=True)
    (folder / "package.json").write_text('{"type": "module"}')
    run(package("openapi-typescript"), str(document), *command.split(), "-o", str(folder / "schema.ts"))
    return folder


def check_types(page: str, folder: Path, *options: str) -> None:
    """Compile the TypeScript example of a page."""
    (example,) = re.findall(r"^```ts\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (folder / "app.ts").write_text(example)
    modern = ("--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom,dom.iterable")
    run(package("tsc"), "--strict", "--noEmit", *modern, *options, str(folder / "app.ts"))


def test_the_example_of_the_documentation_compiles_by_the_book(book: Path) -> None:
    check_types(PAGE, book)


def test_the_fetch_wrapper_of_the_documentation_has_types(book: Path) -> None:
    page = (ROOT / "docs" / "client.md").read_text()
    (code,) = re.findall(r"^## `client.js`\n\n```js\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (book / "client.js").write_text(code)
    check_types(page, book, "--allowJs")


def test_a_strict_client_compiles_and_walks_through_the_service(document: Path, stack: Stack, sim: Server) -> None:
    run("node", "generate.mjs")
    run(package("tsc"))
    said = run("node", "build/walk.js", f"http://127.0.0.1:{stack.port}", sim.captcha.solve())
    assert said.splitlines()[:3] == ["Melati", "Metformin 00:00", "Melati"]
    assert said.splitlines()[3].startswith("/media/")
