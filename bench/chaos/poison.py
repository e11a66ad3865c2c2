"""Chaos experiment with poisonous deliveries. Such a delivery kills every process that tries to send it.

Other deliveries must not be affected.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from app.notifications.delivery import claims, drain
from app.notifications.delivery.claims import Claimed
from bench.chaos.outcome import ExperimentPlan
from bench.chaos.world import SETTLE_S, World, opened
from bench.environment import Result, at_least, at_most
from bench.messages import add_messages

#: `faults` is the number of poisonous deliveries. They are due together with the first reminders.
WHOLE = ExperimentPlan(reminders=600, seconds=80, faults=2)
SHORT = ExperimentPlan(reminders=300, seconds=20, faults=1)

#: Seconds of each call. The provider is slow, so that calls are always in progress.
LATENCY_S = 0.5

POISON = "racun"
#: The worker class of `bench.chaos.poisoned`, in place of `worker.Worker`.
WORKER = "bench.chaos.poisoned.Worker"

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
HARMLESS = f"SELECT count(*) FROM deliveries WHERE state IN ('pending', 'claimed') AND dedupe_key NOT LIKE '{POISON}:%'"


def poisoned(transport: drain.Transport) -> drain.Transport:
    def send(delivery: Claimed) -> str | None:
        if POISON in str(delivery.words.get("text")):
            os.kill(os.getpid(), signal.SIGKILL)
        return transport(delivery)

    return send


def run(plan: ExperimentPlan) -> Iterator[Result]:
    with opened(plan, worker=WORKER) as world:
        world.sim.fault("messaging", "latency", seconds=LATENCY_S, times=None)
        world.start_workers()
        world.remind()
        world.go_on_until(world.first_due + 2)
        _poison(world)
        world.go_on(plan.seconds)
        while world.figure(HARMLESS) and time.time() < world.last_due + SETTLE_S:
            world.go_on(1)
        with world.database() as cursor:
            cursor.execute(STATES)
            deaths, misjudged, failed = map(int, cursor.fetchone())
            cursor.execute("UPDATE deliveries SET state = 'cancelled' WHERE dedupe_key LIKE %s", [f"{POISON}:%"])
            cursor.connection.commit()
        outcome = world.finish()
    print(outcome)
    name = f"{plan.faults} poisonous deliveries"
    # Each poisonous delivery kills a process at once. After the lease (time limit) and a wait that doubles, another
    # process claims the delivery and is killed too.
    waits = [claims.LEASE_S + claims.AFTER_DEATH_S * 2**n + 5 for n in range(claims.MAX_DEATHS)]
    expected = sum(sum(waits[:n]) < plan.seconds for n in range(1, claims.MAX_DEATHS + 1))
    yield at_least(f"{name}: processes that died and were missed", deaths, plan.faults * expected, "processes")
    yield at_most(f"{name}: given up other than after {claims.MAX_DEATHS}", misjudged, 0, "of them")
    yield at_most(f"{name}: others that failed", failed, 0, "deliveries")
    yield from outcome.results(f"{name}, the others", doubled=outcome.unknown)


def _poison(world: World) -> None:
    now = datetime.now(UTC)
    with world.app.app_context():
        add_messages(
            POISON, [now] * world.plan.faults, expires_at=now + timedelta(hours=1), first_number=89_900_000_000
        )
