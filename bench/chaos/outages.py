"""Chaos experiment: PostgreSQL is stopped while calls to the provider are in progress.

It is stopped first for 60 s, then for 5 minutes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bench.chaos.outcome import ExperimentPlan
from bench.chaos.world import opened
from bench.environment import Result

#: In this plan `seconds` is the duration of the longest outage. Reminders that fall due in an outage wait for its end.
WHOLE = ExperimentPlan(reminders=300, seconds=300)
SHORT = ExperimentPlan(reminders=150, seconds=40)

SHORTER_S = 60.0
LATENCY_S = 1.0
#: Maximum seconds from the restart of PostgreSQL until the last message arrives.
BACK_S = 30.0


def run(plan: ExperimentPlan) -> Iterator[Result]:
    with opened(plan) as world:
        world.sim.fault("messaging", "latency", seconds=LATENCY_S, times=None)
        world.start_workers()
        for away_s in sorted({min(SHORTER_S, plan.seconds), plan.seconds}):
            # Some reminders are due before the outage, so that calls to the provider are in progress when the outage
            # begins.
            world.plan = replace(plan, seconds=away_s + 2)
            world.remind()
            world.go_on_until(world.first_due + 2)
            with world.without("postgres", "stopped"):
                world.go_on(away_s)
            outcome = world.finish()
            print(outcome)
            # The calls in progress when it stops have an unknown outcome, so each of them may be sent once more.
            name = f"PostgreSQL away {away_s:.0f} s"
            yield from outcome.results(name, doubled=outcome.unknown, latest_s=away_s + BACK_S)
