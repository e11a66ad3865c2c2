"""Tests of `make` without a `.venv` folder: `make` finds a Python program, and reports problems."""

import os
import subprocess
import sys

import pytest

from config import ROOT

#: Fake Python program that logs its arguments to `calls` and creates a fake `.venv`.
PYTHON = """\
#!/bin/sh
echo "$*" >> calls
case "$*" in
*venv*) mkdir -p .venv/bin && cp python .venv/bin/python ;;
*install*) exit {code} ;;
esac
"""


def bootstrap(folder, python=sys.executable):
    command = [ROOT / "dev" / "bootstrap", "requirements.txt"]
    env = {**os.environ, "PYTHON": python}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("code", [0, 1])
def test_bootstrap_creates_a_venv_once_and_returns_the_exit_code_of_pip(tmp_path, code):
    (tmp_path / "python").write_text(PYTHON.format(code=code))
    (tmp_path / "python").chmod(0o755)
    for _ in range(2):
        assert bootstrap(tmp_path, "./python").returncode == code
    calls = [call.split() for call in (tmp_path / "calls").read_text().splitlines()]
    assert [words[1] for words in calls if words[0] == "-m"] == ["venv", "pip", "pip"]
    assert calls[-1][-2:] == ["-r", "requirements.txt"]


def test_the_error_names_the_venv_folder_that_cannot_be_created(tmp_path):
    (tmp_path / ".venv").touch()  # This file prevents the creation of the folder, even if root runs the test.
    result = bootstrap(tmp_path)
    assert result.returncode == 1
    assert "ensurepip" not in result.stderr
    assert f"{tmp_path}/.venv" in result.stderr


def test_the_error_names_a_python_that_is_too_old(tmp_path):
    result = bootstrap(tmp_path, "/bin/false")
    assert result.returncode == 1
    assert result.stderr == "PYTHON=/bin/false is no Python 3.11 or newer.\n"


def test_make_without_a_target_lists_every_target():
    listed = subprocess.run(["make", "-s"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = {line.split()[1] for line in listed.splitlines()}
    phony = next(line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith(".PHONY:"))
    assert names == set(phony.split()[1:]) - {"help"}
