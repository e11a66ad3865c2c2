"""Chaos experiment: workers start after an hour without workers.

New reminders must not wait for 10,000 old deliveries.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from bench.chaos.outcome import ExperimentPlan
from bench.chaos.world import SETTLE_S, World
from bench.environment import Result, at_most
from bench.messages import add_messages
from dev.stack.waiting import wait_until

#: `faults` is the number of old deliveries. Their due times are within the hour before the workers start.
WHOLE = ExperimentPlan(reminders=120, seconds=45, faults=10_000)
SHORT = ExperimentPlan(reminders=60, seconds=15, faults=4_000)

AWAY = timedelta(hours=1)
LATEST_S = 10.0
WAITING = "SELECT count(*) FROM deliveries WHERE dedupe_key LIKE 'tunggakan:%' AND state <> 'sent'"


def run(plan: ExperimentPlan) -> Iterator[Result]:
    now = datetime.now(UTC)
    dues = [now - AWAY * (plan.faults - n) / plan.faults for n in range(plan.faults)]
    with World.opened(plan) as world:
        with world.app.app_context():
            add_messages("tunggakan", dues, expires_at=now + AWAY, first_number=89_800_000_000)
        world.start_workers()
        world.remind()
        wait_until(lambda: world.isolated.count(WAITING) == 0, SETTLE_S)
        outcome = world.finish()
        copies = len([message for message in world.sim.messaging.sent if "tunggakan" in message.text])
    name = f"backlog of {plan.faults:,}"
    yield at_most(f"{name}: its messages", copies, plan.faults, f"of {plan.faults:,}")
    yield from outcome.results(f"{name}, what falls due now", doubled=0, latest_s=LATEST_S)
