"""Redis or PostgreSQL away for a while: what falls due meanwhile goes out, and goes out once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench.chaos import Chaos
from bench.outages import people, through

pytestmark = pytest.mark.takes(seconds=50)

AWAY_S = 5.0


@pytest.fixture(scope="module")
def world() -> Iterator[Chaos]:
    with people(reminders=20, seconds=6) as made:
        yield made


@pytest.mark.parametrize("how", ["stopped", "frozen"])
def test_reminders_go_on_while_redis_is_away(world: Chaos, how: str) -> None:
    outcome = through(world, "redis", how, AWAY_S)
    assert (outcome.lost, outcome.lost_pushes, outcome.doubled) == (0, 0, 0), outcome.table()
    assert outcome.latest_s < 4, outcome.table()


@pytest.mark.parametrize("how", ["stopped", "frozen"])
def test_what_fell_due_while_postgresql_was_away_goes_out_when_it_is_back(world: Chaos, how: str) -> None:
    outcome = through(world, "postgres", how, AWAY_S)
    assert (outcome.lost, outcome.lost_pushes) == (0, 0), outcome.table()
    assert outcome.doubled <= outcome.deaths, outcome.table()
    assert outcome.latest_s < AWAY_S + 15, outcome.table()
