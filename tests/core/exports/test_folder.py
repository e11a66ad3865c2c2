"""Temporary files of exports are removed, even if the process was killed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from app.core.exports.folder import PREFIX, UNLOCKED_S, export_folder
from config import ROOT, environment

HOLD = """
import sys
from app.core.exports.folder import export_folder
with export_folder() as folder:
    (folder / "export.xlsx").write_bytes(b"half")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def hold(temporary: Path) -> tuple[subprocess.Popen[str], Path]:
    """Start a process that stops in the middle of an export. Return the process and its temporary folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD],
        cwd=ROOT,
        env={**environment(), "TMPDIR": str(temporary)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    return process, Path(process.stdout.readline().strip())


def test_the_next_export_removes_the_folder_of_a_killed_process(temporary: Path) -> None:
    process, folder = hold(temporary)
    with process:
        with export_folder():
            assert (folder / "export.xlsx").exists()  # the folder is still in use
        process.kill()
        process.wait()
    assert folder.exists()
    with export_folder() as own:
        assert list(temporary.iterdir()) == [own]
    assert not list(temporary.iterdir())


def test_only_old_unlocked_export_folders_are_removed(temporary: Path) -> None:
    old, new, foreign = temporary / f"{PREFIX}old", temporary / f"{PREFIX}new", temporary / "export-foreign"
    for folder in (old, new, foreign):
        folder.mkdir()
    long_ago = time.time() - UNLOCKED_S - 1
    for folder in (old, foreign):
        os.utime(folder, (long_ago, long_ago))
    with export_folder():
        assert [old.exists(), new.exists(), foreign.exists()] == [False, True, True]
