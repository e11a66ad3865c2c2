"""Programs of the system that a test uses and no package of Python brings along."""

from __future__ import annotations

from pathlib import Path

import pytest

from dev.system_packages import require


def needed(package: str) -> Path:
    """Where the program of a Debian package is. Without it the test is skipped: `make test` installs, no test does."""
    try:
        return require(package)
    except LookupError as error:
        pytest.skip(str(error))
