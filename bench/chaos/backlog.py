"""Chaos experiment: workers start after an hour without workers.

New reminders must not wait for 10,000 old deliveries.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bench.chaos.outcome import ExperimentPlan
from bench.chaos.world import SETTLE_S, World, opened
from bench.environment import Result, at_most
from bench.messages import add_messages
from dev.stack.waiting import wait_until


@dataclass(frozen=True)
class Backlog(ExperimentPlan):
    """A plan with old deliveries and new reminders.

    `waiting` is the number of deliveries that are due before the workers start. The reminders are due afterwards.
    """

    waiting: int = 0


WHOLE = Backlog(reminders=120, seconds=45, waiting=10_000)
SHORT = Backlog(reminders=60, seconds=15, waiting=4_000)

AWAY = timedelta(hours=1)
LATEST_S = 10.0
WAITING = "SELECT count(*) FROM deliveries WHERE dedupe_key LIKE 'tunggakan:%' AND state <> 'sent'"


def run(plan: Backlog) -> Iterator[Result]:
    with opened(plan) as world:
        _pile_up(world, plan.waiting)
        started = time.time()
        world.start_workers()
        world.remind()
        wait_until(lambda: world.figure(WAITING) == 0, SETTLE_S)
        cleared_s = time.time() - started
        outcome = world.finish()
        copies = len([message for message in world.sim.messaging.sent if "tunggakan" in message.text])
    print(f"{outcome}; the backlog was gone after {cleared_s:.0f} s")
    name = f"backlog of {plan.waiting:,}"
    yield at_most(f"{name}: its messages", copies, plan.waiting, f"of {plan.waiting:,}")
    yield from outcome.results(f"{name}, what falls due now", latest_s=LATEST_S)


def _pile_up(world: World, count: int) -> None:
    """Add `count` deliveries whose due times are within the last hour."""
    now = datetime.now(UTC)
    dues = [now - AWAY * (count - n) / count for n in range(count)]
    with world.app.app_context():
        add_messages("tunggakan", dues, expires_at=now + AWAY, first_number=89_800_000_000)
