"""Chaos experiment: the machine is paused for 10 minutes. After the pause its clock is right.

The service must send reminders again within 11 minutes. In the first round, the clocks of the database and of the
workers jump forward by 10 minutes, as in a virtual machine. In the second round, SIGSTOP freezes all processes for 10
minutes.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from bench.chaos.clock_steps import fake_clock, set_clock
from bench.chaos.outcome import LATEST_S, ExperimentPlan
from bench.chaos.world import World, opened
from bench.environment import Result, at_most
from dev.stack.outages import frozen

WHOLE = ExperimentPlan(reminders=600, seconds=1350)
#: The pause of this plan is so short that reminders continue at once.
SHORT = ExperimentPlan(reminders=100, seconds=45)

#: Time before the pause and duration of the pause, as fractions of the plan's seconds. With the plan `WHOLE` the pause
#: takes 600 s.
BEFORE, PAUSE = 1 / 22.5, 1 / 2.25


def run(plan: ExperimentPlan) -> Iterator[Result]:
    pause_s = round(plan.seconds * PAUSE)
    with fake_clock() as (clock, env), opened(plan, postgres_env=env, settings=env) as world:
        _begin(world)
        set_clock(clock, f"+{pause_s}s")
        jumped_at = datetime.now(UTC)
        _expect_after_jump(world, jumped_at, timedelta(seconds=pause_s))
        yield from _results(world, f"clocks {pause_s} s ahead for good", pause_s, jumped_at)
    with opened(plan) as world:
        _begin(world)
        servers = world.postgres.child, world.redis_child, *world.workers
        with contextlib.ExitStack() as pause:
            for child in servers:
                pause.enter_context(frozen(child.process.pid))
            time.sleep(pause_s)
        yield from _results(world, f"paused for {pause_s} s", pause_s, datetime.now(UTC))


def _begin(world: World) -> None:
    world.start_workers()
    world.remind()
    world.go_on_until(world.first_due + world.plan.seconds * BEFORE)


def _expect_after_jump(world: World, jumped_at: datetime, by: timedelta) -> None:
    """Correct the expected due times, because the clocks have jumped forward by `by`.

    Each due time after `jumped_at` becomes earlier by `by`, but not earlier than `jumped_at`.
    """
    world.due.update({name: max(jumped_at, due - by) for name, due in world.due.items() if due > jumped_at})


def _results(world: World, name: str, pause_s: int, resumed_at: datetime) -> Iterator[Result]:
    outcome = world.finish()
    print(outcome)
    calm_from = resumed_at + timedelta(seconds=pause_s + LATEST_S)
    after = [late_s for each, late_s in outcome.late_s.items() if world.due[each] > calm_from]
    yield from outcome.results(name, doubled=outcome.unknown, latest_s=pause_s + LATEST_S)
    yield at_most(f"{name}: latest of {len(after)} due after that", max(after, default=0.0), LATEST_S, "s after due")
