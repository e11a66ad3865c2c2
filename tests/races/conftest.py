"""Fixtures of the furnished world, to which each run returns."""

import pytest

from tests.races.overlap import Overlap, Pairs, Snapshot
from tests.races.world import World


@pytest.fixture
def world(committed, monkeypatch):
    # As in production, an exception becomes a response with status 500.
    monkeypatch.setitem(committed.config, "PROPAGATE_EXCEPTIONS", False)
    world = World(committed)
    world.furnish()
    return world


@pytest.fixture
def pairs(world):
    snapshot = Snapshot.take()
    with Overlap(world).watching() as overlap:
        yield Pairs(world, overlap, snapshot)
    snapshot.drop()
