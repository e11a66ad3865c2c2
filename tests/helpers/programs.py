"""Programs of the system that a test uses and no package of Python brings along."""

from __future__ import annotations

from pathlib import Path

import pytest

from dev.system_packages import require


def needed(package: str) -> Path:
    """Return the program of a Debian package. Skip the test without it: `make test-all` asks for it beforehand."""
    try:
        return require(package)
    except LookupError as error:
        pytest.skip(str(error))
