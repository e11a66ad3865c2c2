"""Tests install no packages. `dev/system_packages.py` lists the packages and the command that installs them."""

import re

from tests.architecture.modules import TESTS, modules_of
from tests.helpers.offenders import assert_none

INSTALLS = re.compile(r"apt-get|pip3? install|npm (i|ci|install)\b|playwright install")
#: Files that test installers with fake programs, or that quote instructions for an operator.
SUBJECTS = {"dev/test_system_packages.py", "architecture/test_installing.py", "core/test_config.py"}


def test_no_test_installs_anything():
    assert_none(
        (
            f"{module.at(number)} {line.strip()}"
            for module in modules_of(TESTS)
            if module.name not in SUBJECTS
            for number, line in enumerate(module.text.splitlines(), start=1)
            if INSTALLS.search(line)
        ),
        "Add the package to dev/system_packages.py, and get its path with require():",
    )
