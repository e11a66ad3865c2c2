"""Outages of Redis or PostgreSQL: messages that fall due are sent, and sent once."""

from time import sleep

import pytest

from bench.chaos.outcome import ExperimentPlan
from bench.chaos.world import opened
from bench.outages import through
from dev.stack.waiting import wait_until

pytestmark = [pytest.mark.takes(seconds=50), pytest.mark.processes]

AWAY_S = 5.0


@pytest.fixture(scope="module")
def world():
    with opened(ExperimentPlan(reminders=20, seconds=6)) as made:
        made.start_workers()
        yield made


@pytest.mark.parametrize("how", ["stopped", "frozen"])
def test_reminders_are_sent_once_during_a_redis_outage(world, how):
    """Redis is unavailable until all reminders have arrived. `make outages` measures how late they are."""
    outcome = through(world, "redis", how, lambda: wait_until(world.all_have_arrived))
    assert (outcome.lost, outcome.lost_pushes, outcome.doubled) == (0, 0, 0), str(outcome)


@pytest.mark.parametrize("how", ["stopped", "frozen"])
def test_reminders_due_during_a_postgresql_outage_are_sent_afterwards(world, how):
    outcome = through(world, "postgres", how, lambda: sleep(AWAY_S))
    assert outcome.keeps_promises, str(outcome)
