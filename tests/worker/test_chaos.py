"""Short version of `make chaos`: each kind of fault once, while reminders are due."""

from math import inf

import pytest

from bench.chaos.kills import FAULTS, Kills
from bench.chaos.outcome import ExperimentPlan

pytestmark = [pytest.mark.takes(seconds=75), pytest.mark.processes]


def test_reminders_survive_one_of_each_fault():
    """`make chaos` also measures how late messages are and how many are sent twice."""
    plan = ExperimentPlan(reminders=80, seconds=8, faults=len(FAULTS))
    with Kills.opened(plan) as world:
        missed = [result for result in world.play(latest_s=inf) if not result.holds]
    assert not missed
