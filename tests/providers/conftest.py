"""The simulators, once for all their tests, as new for each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dev.simulators import Server, simulators


@pytest.fixture(scope="package")
def running() -> Iterator[Server]:
    with simulators() as server:
        yield server


@pytest.fixture
def sim(running: Server) -> Iterator[Server]:
    yield running
    running.reset()
