"""`make` installs what the tests use before the first of them begins (`dev/system_packages.py`); no test does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from config import ROOT

TESTS = ROOT / "tests"
INSTALLS = re.compile(r"apt-get|pip3? install|npm (i|ci|install)\b|playwright install")
#: They try the installers themselves, on fake programs, or quote what an operator reads.
SUBJECTS = {
    TESTS / "dev" / "test_system_packages.py",
    TESTS / "architecture" / "test_installing.py",
    TESTS / "core" / "test_config.py",
}


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*.py")), ids=lambda path: path.relative_to(TESTS).as_posix())
def test_no_test_installs_anything(path: Path) -> None:
    assert path in SUBJECTS or not INSTALLS.search(path.read_text(encoding="utf-8"))
