"""Chaos experiment with poisonous deliveries. Such a delivery kills every process that tries to send it.

Other deliveries must not be affected.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from app.notifications.delivery import claims
from bench.chaos.outcome import ExperimentPlan
from bench.chaos.world import Workers, World
from bench.environment import Result, at_least, at_most
from bench.messages import add_messages

#: `faults` is the number of poisonous deliveries. They are due together with the first reminders.
WHOLE = ExperimentPlan(reminders=600, seconds=80, faults=2)
SHORT = ExperimentPlan(reminders=300, seconds=40, faults=1)

#: Seconds of each call. The provider is slow, so that calls are always in progress.
LATENCY_S = 0.5
#: Maximum seconds per death, for the first deaths of a delivery. A death takes the lease (time limit) and a wait. Then
#: another process claims the delivery and is killed too. The wait doubles with each death.
DEATH_S = 40.0

POISON = "racun"

#: Query for three numbers: the processes that poisonous deliveries have killed, the poisonous deliveries that ended
#: too early or too late, and the failed deliveries that are not poisonous.
STATES = f"""
    SELECT
        coalesce(sum(deaths) FILTER (WHERE dedupe_key LIKE '{POISON}:%'), 0),
        count(*) FILTER (WHERE dedupe_key LIKE '{POISON}:%'
            AND (state NOT IN ('pending', 'claimed')) <> (deaths >= {claims.MAX_DEATHS})),
        count(*) FILTER (WHERE dedupe_key NOT LIKE '{POISON}:%' AND state = 'failed')
    FROM deliveries
"""


class PoisonedWorkers(Workers):
    worker = "bench.chaos.poisoned.Worker"


def run(plan: ExperimentPlan) -> Iterator[Result]:
    with World.opened(plan, PoisonedWorkers) as world:
        world.sim.fault("messaging", "latency", seconds=LATENCY_S, times=None)
        world.start_workers()
        world.remind()
        world.go_on_until(world.first_due + 2)
        now = datetime.now(UTC)
        with world.app.app_context():
            add_messages(POISON, [now] * plan.faults, expires_at=now + timedelta(hours=1), first_number=89_900_000_000)
        world.go_on_until(now.timestamp() + plan.seconds)
        outcome = world.finish()
        ((deaths, misjudged, failed),) = world.isolated.rows(STATES)
    name = f"{plan.faults} poisonous deliveries"
    expected = plan.faults * int(plan.seconds / DEATH_S)
    yield at_least(f"{name}: processes that died and were missed", int(deaths), expected, "processes")
    yield at_most(f"{name}: given up other than after {claims.MAX_DEATHS}", misjudged, 0, "of them")
    yield at_most(f"{name}: others that failed", failed, 0, "deliveries")
    yield from outcome.results(f"{name}, the others")
