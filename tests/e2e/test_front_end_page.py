"""Tests that every example of `docs/front-end.md` runs on `make run` and returns the shown response."""

import json
import re
import subprocess

import pytest

from config import ROOT
from dev.system_packages import require
from tests.e2e.launcher import Launcher, copy_checkout

pytestmark = [pytest.mark.takes(seconds=20), pytest.mark.processes]

PAGE = (ROOT / "docs/front-end.md").read_text()
#: Pattern for an example in `docs/front-end.md`, with the shown response if there is one.
EXAMPLES = re.compile(r"^```sh\n(.*?)^```\n(?:```(json|text)\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
SEPARATOR = "-- the next example --"


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    require("curl")
    examples = [example.replace("http://127.0.0.1:8000", "$HERE") for example, _, _ in EXAMPLES.findall(PAGE)]
    script = f"echo; echo '{SEPARATOR}'\n".join(examples)
    with Launcher(copy_checkout(tmp_path_factory.mktemp("front-end") / "checkout")) as launcher:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            env={**launcher.env, "HERE": launcher.url},
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        yield done.stdout.split(SEPARATOR)


def test_every_example_runs_and_answers_as_shown(answers):
    shown = [(kind, answer) for _, kind, answer in EXAMPLES.findall(PAGE)]
    assert len(shown) == len(answers)
    assert sum(bool(kind) for kind, _ in shown) > 5
    for (kind, answer), got in zip(shown, answers, strict=True):
        if kind == "json":
            assert_same_shape(json.loads(answer), json.loads(got))
        for line in answer.splitlines() if kind == "text" else ():
            assert line.partition(":")[0] in got


def assert_same_shape(shown, got):
    """Assert that the response has the fields shown on the page, with the same types. The page may leave out fields."""
    for name, value in shown.items():
        assert name in got, got
        if value is not None:
            assert type(got[name]) is type(value), name
    for name in ("error", "message", "errors", "status", "username"):
        assert shown.get(name) == (got.get(name) if name in shown else None), got


def test_the_paths_in_the_document_exist():
    rules = (ROOT / "tests/routes/registry.py").read_text()
    for path in set(re.findall(r"`(?:GET |POST |PUT |DELETE )?(/[a-z][a-z/-]+)(?:/:\w+)?(?:\?[^`]*)?`", PAGE)):
        if not path.startswith(("/api", "/dev", "/media")):
            assert path in rules, path
