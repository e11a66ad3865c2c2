"""Fixtures: nginx with deploy/nginx.conf, in front of a fake service.

The fake service returns the response that a test sets. It records the requests.
"""

from itertools import count

import pytest

from dev.system_packages import require
from tests.core.web.nginx_cache.edge import FRESH_FOR_LONG, Edge

_numbers = count(1)


@pytest.fixture(scope="module")
def nginx(tmp_path_factory):
    require("nginx")
    with Edge(tmp_path_factory.mktemp("edge")) as edge:
        yield edge


@pytest.fixture
def edge(nginx):
    """Yield nginx and the fake service, both reset to the initial state."""
    service = nginx.service
    service.asked.clear()
    yield nginx
    service.answers.set()
    service.status, service.headers, service.body = 200, {"Cache-Control": FRESH_FOR_LONG}, None


@pytest.fixture
def thread():
    """Return an address that no test has requested yet."""
    return f"/forum/threads/{next(_numbers)}"
