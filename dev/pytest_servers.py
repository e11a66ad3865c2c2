"""Plugin of pytest: starts the servers of the tests, unless `make test` or the environment names some."""

from __future__ import annotations

import contextlib
import os

import pytest

from config import environment
from dev.family import ToolError
from dev.testing import DATABASE_VARIABLE, REDIS_VARIABLE, temporary_servers


@pytest.hookimpl(tryfirst=True)  # pytest-xdist starts its processes in the same hook; they inherit the variables
def pytest_sessionstart(session: pytest.Session) -> None:
    known = environment()
    if session.config.option.collectonly or (DATABASE_VARIABLE in known and REDIS_VARIABLE in known):
        return
    stack = contextlib.ExitStack()
    try:
        os.environ.update(stack.enter_context(temporary_servers()))
    except ToolError as error:
        pytest.exit(str(error), returncode=pytest.ExitCode.USAGE_ERROR)
    session.config.add_cleanup(stack.close)


@pytest.fixture(scope="session")
def process_number(worker_id: str) -> int:
    """0 when pytest runs alone, else 1, 2, ... for the processes of pytest-xdist."""
    return 0 if worker_id == "master" else int(worker_id.removeprefix("gw")) + 1
