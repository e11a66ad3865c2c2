"""A plugin of `tests/conftest.py`: the stand-ins of the outside services, as new for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dev.simulators import Server, simulators


@pytest.fixture(scope="session")
def running() -> Iterator[Server]:
    with simulators() as server:
        yield server


@pytest.fixture
def sim(running: Server) -> Iterator[Server]:
    yield running
    running.reset()
