"""Chaos experiment: the database's clock is wrong several times, each time for 15 s. The clock is then ahead or behind.

No reminder may be sent early or missed.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.chaos.outcome import ExperimentPlan
from bench.chaos.world import World, opened
from bench.environment import Result, at_most
from dev.system_packages import require

WHOLE = ExperimentPlan(reminders=300, seconds=75)
SHORT = ExperimentPlan(reminders=120, seconds=30)

STEPS = ("+2h", "-2h", "+50m")
#: Duration of a clock step and of the pause between two steps, as fractions of the plan's seconds. In the plan `WHOLE`
#: these are 15 s and 5 s.
STEPPED, CALM = 1 / 5, 1 / 15
#: Additional reminders are due after these times. If the clock is two hours ahead, all their due times are in the past.
LATER = [timedelta(minutes=10 * n) for n in range(1, 12)]

MISSED = "SELECT count(*) FROM deliveries WHERE state = 'missed'"
LATER_SENT = "SELECT count(*) FROM deliveries WHERE due_at > now() + interval '5 minutes' AND state <> 'pending'"


def run(plan: ExperimentPlan) -> Iterator[Result]:
    with fake_clock() as (clock, env), opened(plan, postgres_env=env) as world:
        yield from _play(world, clock)


@contextlib.contextmanager
def fake_clock() -> Iterator[tuple[Path, dict[str, str]]]:
    """Yield a file and environment variables. The file contains the offset of a fake clock.

    A process with these environment variables uses the fake clock.
    """
    with tempfile.TemporaryDirectory(prefix="clock-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        clock = folder / "clock"
        set_clock(clock, "+0")
        yield (
            clock,
            {
                "LD_PRELOAD": str(require("libfaketime")),
                "FAKETIME_TIMESTAMP_FILE": str(clock),
                "FAKETIME_NO_CACHE": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            },
        )


def _play(world: World, clock: Path) -> Iterator[Result]:
    world.start_workers()
    world.remind()
    with world.app.app_context():
        for minutes in LATER:
            world.remind_of("nanti", datetime.now(UTC) + minutes, world.people[0])
    world.go_on_until(world.first_due)
    for step in STEPS:
        world.go_on(world.plan.seconds * CALM)
        set_clock(clock, step)
        world.go_on(world.plan.seconds * STEPPED)
        set_clock(clock, "+0")
    outcome = world.finish()
    print(outcome)
    name = f"clock steps {', '.join(STEPS)} for {world.plan.seconds * STEPPED:.0f} s"
    later = world.figure(LATER_SENT) + sum("nanti" in message.text for message in world.sim.messaging.sent)
    yield at_most(f"{name}: missed", world.figure(MISSED), 0, "deliveries")
    yield at_most(f"{name}: of a later hour sent", later, 0, "deliveries")
    yield from outcome.results(name)


def set_clock(clock: Path, by: str) -> None:
    """Replace the file `clock` in one step, because PostgreSQL reads the file each time it needs the time."""
    draft = clock.with_suffix(".new")
    draft.write_text(by)
    draft.chmod(0o644)
    draft.replace(clock)
