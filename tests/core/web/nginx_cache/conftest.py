"""nginx alone, by deploy/nginx.conf.

The service is a stand-in that answers what a test wants, and remembers what it was asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from dev.system_packages import require
from tests.core.web.nginx_cache.edge import FRESH_FOR_LONG, Edge

_numbers = count(1)


@pytest.fixture(scope="module")
def nginx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Edge]:
    require("nginx")
    with Edge(tmp_path_factory.mktemp("edge")) as edge:
        yield edge


@pytest.fixture
def edge(nginx: Edge) -> Iterator[Edge]:
    """With a service that has forgotten what it was asked and told."""
    service = nginx.service
    service.asked.clear()
    yield nginx
    service.answers.set()
    service.status, service.headers, service.body = 200, {"Cache-Control": FRESH_FOR_LONG}, None


@pytest.fixture
def thread() -> str:
    """An address that nobody has asked for."""
    return f"/forum/threads/{next(_numbers)}"
