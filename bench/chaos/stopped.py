"""Chaos experiment: all processes stop for 11 minutes, as on a paused machine. After the pause the clock is right.

SIGSTOP freezes the servers and the workers. The service must send reminders again within a minute after the pause.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from bench.chaos.outcome import LATEST_S, ExperimentPlan
from bench.chaos.world import opened
from bench.environment import Result, at_most
from dev.stack.outages import frozen

WHOLE = ExperimentPlan(reminders=600, seconds=1485)
SHORT = ExperimentPlan(reminders=100, seconds=45)

#: Time before the pause and duration of the pause, as fractions of the plan's seconds. With the plan `WHOLE` the pause
#: takes 660 s.
BEFORE, PAUSE = 1 / 22.5, 1 / 2.25


def run(plan: ExperimentPlan) -> Iterator[Result]:
    pause_s = round(plan.seconds * PAUSE)
    with opened(plan) as world:
        world.start_workers()
        world.remind()
        world.go_on_until(world.first_due + plan.seconds * BEFORE)
        servers = world.postgres.child, world.redis_child, *world.workers
        with contextlib.ExitStack() as pause:
            for child in servers:
                pause.enter_context(frozen(child.process.pid))
            time.sleep(pause_s)
        calm_from = datetime.now(UTC) + timedelta(seconds=LATEST_S)
        outcome = world.finish()
        print(outcome)
    name = f"all processes stopped for {pause_s} s"
    after = [late_s for each, late_s in outcome.late_s.items() if world.due[each] > calm_from]
    yield from outcome.results(name, doubled=outcome.unknown, latest_s=pause_s + LATEST_S)
    yield at_most(f"{name}: latest of {len(after)} due after that", max(after, default=0.0), LATEST_S, "s after due")
