"""Redis or PostgreSQL away for a while: what falls due meanwhile goes out, and goes out once."""

from __future__ import annotations

import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench.chaos import Chaos, Outcome, Plan
from dev.family import Family
from dev.simulators import simulators

pytestmark = pytest.mark.serial

AWAY_S = 6.0


@pytest.fixture
def world() -> Iterator[Chaos]:
    """Forty reminders that fall due within seven seconds, on servers that may be hurt."""
    with tempfile.TemporaryDirectory(prefix="outage-") as name, simulators() as sim:
        folder = Path(name)
        folder.chmod(0o711)  # when we are root, PostgreSQL is not, and has to get in
        with Family(folder / "logs", register=folder / "processes") as family:
            chaos = Chaos(Plan(reminders=40, seconds=7, faults=0), folder, family, sim)
            chaos.prepare()
            chaos.start_workers()
            yield chaos


def through(world: Chaos, away: Callable[[], None], back: Callable[[], None]) -> Outcome:
    first = min(world.due.values()).timestamp()
    time.sleep(max(0.0, first - time.time()))
    away()
    time.sleep(AWAY_S)
    back()
    return world.finish()


def test_reminders_go_on_while_redis_is_dead(world: Chaos) -> None:
    outcome = through(world, world.redis_child.process.kill, world.keep_up)
    assert (outcome.lost, outcome.lost_pushes, outcome.doubled) == (0, 0, 0), outcome.table()
    assert outcome.latest_s < 4, outcome.table()


def test_reminders_go_on_while_redis_hangs(world: Chaos) -> None:
    process = world.redis_child.process
    outcome = through(world, lambda: process.send_signal(signal.SIGSTOP), lambda: process.send_signal(signal.SIGCONT))
    assert (outcome.lost, outcome.lost_pushes, outcome.doubled) == (0, 0, 0), outcome.table()
    assert outcome.latest_s < 4, outcome.table()


def test_what_fell_due_while_postgresql_was_away_goes_out_when_it_is_back(world: Chaos) -> None:
    def stop() -> None:
        world.postgres.child.process.send_signal(signal.SIGINT)
        world.postgres.child.process.wait(20)

    def start() -> None:
        world.family.children.remove(world.postgres.child)
        world.start_postgres_again()

    outcome = through(world, stop, start)
    assert (outcome.lost, outcome.lost_pushes) == (0, 0), outcome.table()
    assert outcome.doubled <= outcome.deaths, outcome.table()
    assert outcome.latest_s < AWAY_S + 15, outcome.table()
