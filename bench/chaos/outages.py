"""Chaos experiment: Redis or PostgreSQL is unavailable for 60 s, then for 5 minutes, while reminders fall due."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from bench.chaos.outcome import ExperimentOutcome, ExperimentPlan
from bench.chaos.world import World
from bench.environment import Result

#: In this plan `seconds` is the duration of the longest outage.
WHOLE = ExperimentPlan(reminders=300, seconds=300)
SHORT = ExperimentPlan(reminders=150, seconds=40)

SHORTER_S = 60.0
#: Maximum delay in seconds without Redis.
WITHOUT_REDIS_S = 4.0
#: Seconds of each call to the provider, so that calls are in progress when PostgreSQL stops.
LATENCY_S = 1.0
#: Maximum seconds from the restart of PostgreSQL until the last message arrives.
BACK_S = 30.0


def run(plan: ExperimentPlan) -> Iterator[Result]:
    plans = [replace(plan, seconds=seconds) for seconds in sorted({min(SHORTER_S, plan.seconds), plan.seconds})]
    with World.opened(plan) as world:
        world.start_workers()
        for world.plan in plans:
            outcome = through(world, "redis", "killed", partial(world.go_on, world.plan.seconds))
            name = f"Redis away {world.plan.seconds:.0f} s"
            yield from outcome.results(name, doubled=0, latest_s=WITHOUT_REDIS_S)
        world.sim.fault("messaging", "latency", seconds=LATENCY_S, times=None)
        for world.plan in plans:
            # Reminders that fall due in the outage wait for its end.
            outcome = through(world, "postgres", "stopped", partial(world.go_on, world.plan.seconds))
            name = f"PostgreSQL away {world.plan.seconds:.0f} s"
            yield from outcome.results(name, latest_s=world.plan.seconds + BACK_S)


def through(world: World, server: str, how: str, meanwhile: Callable[[], object]) -> ExperimentOutcome:
    """Call `meanwhile` during an outage that begins after the first reminders. Return the outcome of all reminders."""
    world.remind()
    world.go_on_until(world.first_due + 2)
    with world.isolated.without(server, how):
        meanwhile()
    return world.finish()
