"""`make` before there is a `.venv`: it finds a Python, shows how far it is, and leaves no half-truths."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from config import ROOT
from dev import install

REQUIREMENTS = "# comment\n-r more.txt\nsix==1.17.0\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "requirements.txt").write_text(REQUIREMENTS)
    (tmp_path / "more.txt").write_text("idna==3.20\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def pip_that(monkeypatch: pytest.MonkeyPatch, does: str) -> None:
    monkeypatch.setattr(install, "pip_command", lambda: [sys.executable, "-c", does])


def test_an_installation_counts_what_it_looks_at_and_leaves_its_stamp(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pip_that(monkeypatch, "print('Collecting six==1.17.0\\nProcessing idna\\nInstalling collected packages: six')")
    assert install.main(Path("stamp"), [Path("requirements.txt")]) == 0
    assert (folder / "stamp").exists()
    assert capsys.readouterr().out.splitlines() == [
        "Installing 2 packages into .venv",
        "  2/2  unpacking",
        "  2/2  compiling",
    ]


def test_a_package_that_is_not_for_this_python_counts_as_seen_and_one_in_two_files_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "more.txt").write_text('idna==3.20; python_version < "3"\n')
    (folder / "requirements.txt").write_text(REQUIREMENTS + "-r more.txt\n")
    pip_that(
        monkeypatch, "print('Ignoring idna: markers\\nCollecting six==1.17.0\\nInstalling collected packages: six')"
    )
    assert install.main(Path("stamp"), [Path("requirements.txt")]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "  2/2  unpacking"


def test_a_failed_installation_shows_why_and_leaves_no_stamp(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pip_that(monkeypatch, "print('No matching distribution found for six'); raise SystemExit(1)")
    assert install.main(Path("stamp"), [Path("requirements.txt")]) == 1
    assert not (folder / "stamp").exists()
    assert "No matching distribution found for six" in capsys.readouterr().err


def test_a_python_without_venv_and_pip_is_told_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(install, "works", lambda _command: False)
    assert install.main(Path("stamp"), [Path("requirements.txt")]) == 1
    assert "apt install python3-venv" in capsys.readouterr().err
    assert not (folder / "stamp").exists()


def test_a_folder_in_which_nothing_can_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "dev").symlink_to(ROOT / "dev")
    (tmp_path / ".venv").touch()  # a file, because root may write to a folder that nobody may write to
    command = ["dev/bootstrap", "stamp", "requirements.txt"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "ensurepip" not in result.stderr
    assert f"{tmp_path}/.venv" in result.stderr


def test_a_python_that_is_too_old_is_refused_by_name() -> None:
    command = [ROOT / "dev" / "bootstrap", "stamp", "requirements.txt"]
    env = {"PYTHON": "/bin/false", "PATH": "/usr/bin:/bin"}
    result = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr == "PYTHON=/bin/false is no Python 3.11 or newer.\n"


def test_make_alone_lists_every_command() -> None:
    listed = subprocess.run(["make", "-s"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = {line.split()[1] for line in listed.splitlines()}
    phony = next(line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith(".PHONY:"))
    assert names == set(phony.split()[1:]) - {"help"}


@pytest.mark.parametrize(
    ("line", "package"),
    [
        ("Collecting Flask==3.1.3 (from -r requirements.txt (line 4))", "Flask"),
        (
            "Processing ./wheels/python_dateutil-2.9.0-py3-none-any.whl (from -r requirements.txt (line 79))",
            "python_dateutil",
        ),
        ("Requirement already satisfied: rq==2.12.0 in ./lib (from -r x)", "rq"),
        (
            "Ignoring async-timeout: markers 'python_full_version < \"3.11.3\"' don't match your environment",
            "async-timeout",
        ),
    ],
)
def test_a_line_of_pip_names_its_package(line: str, package: str) -> None:
    assert install.package_in(line) == package
