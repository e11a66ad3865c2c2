"""PostgreSQL is away for 60 s, and for 5 minutes, with calls under way when it goes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bench.chaos.outcome import Plan
from bench.chaos.world import opened
from bench.environment import Result

#: `seconds` is the longest outage; what falls due in it waits for its end.
WHOLE = Plan(reminders=300, seconds=300)
SHORT = Plan(reminders=150, seconds=40)

SHORTER_S = 60.0
LATENCY_S = 1.0
#: After its return.
BACK_S = 30.0


def run(plan: Plan) -> Iterator[Result]:
    with opened(plan) as world:
        world.sim.fault("messaging", "latency", seconds=LATENCY_S, times=None)
        world.start_workers()
        for away_s in sorted({min(SHORTER_S, plan.seconds), plan.seconds}):
            # Some are due before, so that their calls are under way.
            world.plan = replace(plan, seconds=away_s + 2)
            world.remind()
            world.go_on_until(world.first_due + 2)
            with world.without("postgres", "stopped"):
                world.go_on(away_s)
            outcome = world.finish()
            print(outcome)
            yield from outcome.results(f"PostgreSQL away {away_s:.0f} s", latest_s=away_s + BACK_S)
