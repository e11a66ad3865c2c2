"""Fixtures of the architecture tests: the modules of the application, parsed once."""

import pytest

from tests.architecture.modules import APP, modules_of


@pytest.fixture(scope="package")
def modules():
    return modules_of(APP)
