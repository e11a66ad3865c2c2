"""Chaos experiment: workers are frozen (SIGSTOP) for 15 to 25 s.

This is shorter than the lease, the time for which a worker reserves a delivery. Only calls to the provider that were in
progress may be repeated.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from bench.chaos.outcome import ExperimentPlan
from bench.chaos.world import opened
from bench.environment import Result
from dev.stack.outages import frozen
from dev.stack.waiting import wait_until

#: In this plan `faults` is the number of freezes.
WHOLE = ExperimentPlan(reminders=800, seconds=120, faults=5)
SHORT = ExperimentPlan(reminders=200, seconds=25, faults=1)

FROZEN_S = (15.0, 25.0)
#: Seconds of each call to the simulated provider. Calls are slow, so that a call is always in progress.
LATENCY_S = 1.5


def run(plan: ExperimentPlan) -> Iterator[Result]:
    with opened(plan) as world:
        world.sim.fault("messaging", "latency", seconds=LATENCY_S, times=None)
        world.start_workers()
        world.remind()
        world.go_on_until(world.first_due)
        for number in range(plan.faults):
            calls = len(world.sim.messaging.calls)
            wait_until(lambda: len(world.sim.messaging.calls) > calls or time.time() > world.last_due)  # noqa: B023
            # The first freeze stops all workers, as on a paused machine. Each further freeze stops one worker fewer.
            # After a freeze of one worker, the next freeze stops all workers again.
            some = world.random.sample(world.workers, len(world.workers) - number % len(world.workers))
            with contextlib.ExitStack() as freeze:
                for worker in some:
                    freeze.enter_context(frozen(worker.process.pid))
                time.sleep(world.random.uniform(*FROZEN_S))
            world.outcome.faults["freeze"] += 1
            world.go_on(world.random.uniform(1, 4))
        outcome = world.finish()
    print(outcome)
    name = f"{plan.faults} freezes of {FROZEN_S[0]:.0f} to {FROZEN_S[1]:.0f} s"
    yield from outcome.results(name, doubled=outcome.unknown)
