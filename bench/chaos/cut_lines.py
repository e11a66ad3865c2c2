"""Chaos experiment: the provider accepts every message, but closes the connection before it responds.

The service then does not know whether the message was sent.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.chaos.outcome import ExperimentPlan
from bench.chaos.world import opened
from bench.environment import Result

#: `seconds` is the time during which the provider closes its connections.
WHOLE = ExperimentPlan(reminders=300, seconds=70)
SHORT = ExperimentPlan(reminders=150, seconds=25)

#: Maximum seconds from the end of the fault to the last message. After failures the service does not call the provider
#: for some seconds. The service retries a message with an unknown outcome after 30 s, plus or minus 25 %.
BACK_S = 60.0


def run(plan: ExperimentPlan) -> Iterator[Result]:
    with opened(plan) as world:
        world.start_workers()
        world.remind()
        world.go_on_until(world.first_due - 1)
        world.sim.fault("messaging", "drop", times=None, after=True)
        world.go_on(plan.seconds)
        world.sim.clear_faults()
        outcome = world.finish()
    print(outcome)
    yield from outcome.results(
        f"line cut for {plan.seconds:.0f} s", doubled=outcome.unknown, latest_s=plan.seconds + BACK_S
    )
