"""Outages of Redis or PostgreSQL: messages that fall due are sent, and sent once."""

from math import inf
from time import sleep

import pytest

from bench.chaos.outages import through
from bench.chaos.outcome import ExperimentPlan
from bench.chaos.world import World
from dev.stack.waiting import wait_until

pytestmark = [pytest.mark.takes(seconds=50), pytest.mark.processes]

AWAY_S = 5.0


@pytest.fixture(scope="module")
def world():
    with World.opened(ExperimentPlan(reminders=20, seconds=6)) as made:
        made.start_workers()
        yield made


def missed(outcome, **limits):
    return [result for result in outcome.results("outage", latest_s=inf, **limits) if not result.holds]


@pytest.mark.parametrize("how", ["killed", "frozen"])
def test_reminders_are_sent_once_during_a_redis_outage(world, how):
    """Redis is unavailable until all reminders have arrived. `make outages` measures how late they are."""
    outcome = through(world, "redis", how, lambda: wait_until(lambda: world.count().lost == 0))
    assert not missed(outcome, doubled=0)


@pytest.mark.parametrize("how", ["stopped", "frozen"])
def test_reminders_due_during_a_postgresql_outage_are_sent_afterwards(world, how):
    outcome = through(world, "postgres", how, lambda: sleep(AWAY_S))
    assert not missed(outcome)
