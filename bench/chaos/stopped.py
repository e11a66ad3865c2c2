"""Chaos experiment: all processes stop for 11 minutes, as on a paused machine. After the pause the clock is right.

SIGSTOP freezes the servers and the workers. The service must send reminders again within a minute after the pause.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from bench.chaos.outcome import LATEST_S, ExperimentPlan
from bench.chaos.world import World
from bench.environment import Result, at_most
from dev.stack.outages import frozen

WHOLE = ExperimentPlan(reminders=600, seconds=1485)
SHORT = ExperimentPlan(reminders=100, seconds=45)

#: Time before the pause and duration of the pause, as fractions of the plan's seconds. With the plan `WHOLE` the pause
#: takes 660 s.
BEFORE, PAUSE = 1 / 22.5, 1 / 2.25


def run(plan: ExperimentPlan) -> Iterator[Result]:
    pause_s = round(plan.seconds * PAUSE)
    with World.opened(plan) as world:
        world.start_workers()
        world.remind()
        world.go_on_until(world.first_due + plan.seconds * BEFORE)
        servers = world.isolated.postgres.child.process, world.isolated.valkey.child.process
        with contextlib.ExitStack() as pause:
            for process in (*servers, *world.stack.processes):
                pause.enter_context(frozen(process.pid))
            time.sleep(pause_s)
        calm_from = time.time() + LATEST_S
        outcome = world.finish()
    name = f"all processes stopped for {pause_s} s"
    after = outcome.late_s(calm_from)
    yield from outcome.results(name, latest_s=pause_s + LATEST_S)
    yield at_most(f"{name}: latest of {len(after)} due after that", max(after, default=0.0), LATEST_S, "s after due")
