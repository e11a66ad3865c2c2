"""Fixtures of the rules: the modules of the application, parsed once for all rules."""

from __future__ import annotations

import pytest

from tests.architecture.modules import APP, Module, modules_of


@pytest.fixture(scope="package")
def modules() -> list[Module]:
    """All modules of `app/`."""
    return modules_of(APP)
