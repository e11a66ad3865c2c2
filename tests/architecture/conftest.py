"""Fixtures of the architecture tests: the modules of the application, parsed once."""

from __future__ import annotations

import pytest

from tests.architecture.modules import APP, Module, modules_of


@pytest.fixture(scope="package")
def modules() -> list[Module]:
    return modules_of(APP)
