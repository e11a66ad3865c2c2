"""Plugin of pytest that starts test servers, and sets the number of processes and the order of the tests.

If environment variables contain the addresses of servers, the plugin does not start servers.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import pytest

from config import environment
from dev.supervisor import ToolError
from dev.testing import DATABASE_VARIABLE, REDIS_VARIABLE, own_number, temporary_servers


# pytest-xdist starts its processes later in the same hook. These processes inherit the variables that are set here.
@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    # The tests start hundreds of processes. With PYTHONDONTWRITEBYTECODE, each of them would compile the whole
    # application again.
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
    """Return twice the number of processors, because many tests wait for processes that they have started."""
    return min(8, 2 * (os.cpu_count() or 1))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run slow files first, so that no slow file is still running alone at the end."""
    items.sort(key=_seconds, reverse=True)


def _seconds(item: pytest.Item) -> float:
    marker = item.get_closest_marker("takes")
    return float(marker.kwargs["seconds"]) if marker else 0


@pytest.fixture(scope="session")
def process_number() -> Iterator[int]:
    """Yield the number of this test process. Its database and its Redis database have the same number."""
    with own_number(environment()[DATABASE_VARIABLE]) as number:
        yield number
