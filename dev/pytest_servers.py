"""Plugin of pytest: the servers of the tests, unless the environment names some, and who runs what when."""

from __future__ import annotations

import contextlib
import os

import pytest

from config import environment
from dev.supervisor import ToolError
from dev.testing import DATABASE_VARIABLE, REDIS_VARIABLE, temporary_servers


@pytest.hookimpl(tryfirst=True)  # pytest-xdist starts its processes in the same hook; they inherit the variables
def pytest_sessionstart(session: pytest.Session) -> None:
    # Hundreds of processes follow; where this is set, each of them would compile the whole application anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    known = environment()
    if session.config.option.collectonly or (DATABASE_VARIABLE in known and REDIS_VARIABLE in known):
        return
    stack = contextlib.ExitStack()
    try:
        os.environ.update(stack.enter_context(temporary_servers()))
    except ToolError as error:
        pytest.exit(str(error), returncode=pytest.ExitCode.USAGE_ERROR)
    session.config.add_cleanup(stack.close)


def pytest_xdist_auto_num_workers() -> int:
    """Two for each processor: many tests wait, and most of those for processes that they have started."""
    return min(8, 2 * (os.cpu_count() or 1))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take long begin first, so that none of them is left over at the end."""
    items.sort(key=_seconds, reverse=True)


def _seconds(item: pytest.Item) -> float:
    marker = item.get_closest_marker("takes")
    return float(marker.kwargs["seconds"]) if marker else 0


@pytest.fixture(scope="session")
def process_number(worker_id: str) -> int:
    """0 when pytest runs alone, else 1, 2, ... for the processes of pytest-xdist."""
    return 0 if worker_id == "master" else int(worker_id.removeprefix("gw")) + 1
