"""Benchmark of deliveries: their rate with two workers, and their delay when many deliveries are due at once."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.notifications.models import deliveries
from bench.environment import BenchEnvironment, Result, at_least, at_most
from bench.messages import add_messages
from config import ROOT

WORKERS = 2
MANY = 5000
AT_ONCE = 500


def run(environment: BenchEnvironment) -> Iterator[Result]:
    with _gateway() as settings, working(environment, settings), environment.app.app_context():
        _add("warm", 50)
        _wait("warm")
        _add("rate", MANY)
        _wait("rate")
        yield at_least(f"deliveries with {WORKERS} workers", _rate("rate"), 250, "a second")
        _add("burst", AT_ONCE, due_in=timedelta(seconds=3), within=timedelta(seconds=1))
        _wait("burst")
        yield at_most(f"{AT_ONCE} due in one second, p99", _late("burst"), 5, "s late")


@contextlib.contextmanager
def _gateway() -> Iterator[dict[str, str]]:
    """Run the simulator of the messaging gateways in its own process, and yield the settings that use the simulator."""
    command = [sys.executable, "-m", "dev.simulators"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        settings: dict[str, str] = json.loads(process.stdout.readline())
        yield {name: value for name, value in settings.items() if name.startswith("MESSAGING_")}
    finally:
        process.terminate()
        process.wait(10)


@contextlib.contextmanager
def working(environment: BenchEnvironment, settings: dict[str, str], count: int = WORKERS) -> Iterator[None]:
    command = [sys.executable, "-m", "rq.cli", "worker", "-c", "worker", "-w", "worker.Worker", "urgent"]
    env = {**os.environ, **environment.env, **settings}
    processes = [subprocess.Popen(command, cwd=ROOT, env=env) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(60)


def _add(name: str, count: int, due_in: timedelta = timedelta(0), within: timedelta = timedelta(0)) -> None:
    start = datetime.now(UTC) + due_in
    dues = [start + within * n / count for n in range(count)]
    add_messages(name, dues, expires_at=start + timedelta(hours=1), first_number=81_200_000_000)


def _wait(name: str) -> None:
    stop = time.monotonic() + 180
    while time.monotonic() < stop:
        with unit_of_work():
            states = set(db.session.scalars(_of(name, deliveries.c.state).distinct()))
        if states == {"sent"}:
            return
        time.sleep(0.2)
    raise SystemExit(f"{name}: {states}")


def _rate(name: str) -> float:
    """Return the number of sent deliveries per second, measured from the first to the last delivery."""
    settled = deliveries.c.settled_at
    with unit_of_work():
        count, seconds = db.session.execute(
            _of(name, sa.func.count(), sa.extract("epoch", sa.func.max(settled) - sa.func.min(settled)))
        ).one()
    return float(count) / float(seconds)


def _late(name: str) -> float:
    late = sa.extract("epoch", deliveries.c.settled_at - deliveries.c.due_at)
    with unit_of_work():
        return float(db.session.scalar(_of(name, sa.func.percentile_cont(0.99).within_group(late))) or 0)


def _of(name: str, *what: sa.ColumnElement[Any]) -> sa.Select[Any]:
    return sa.select(*what).where(deliveries.c.dedupe_key.like(f"{name}:%"))
