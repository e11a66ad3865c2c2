"""Benchmark of a broadcast to 100,000 people: its duration, its memory, and a restart of the worker."""

from __future__ import annotations

import time
from collections.abc import Iterator

import psutil
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.jobs import queue
from app.notifications.broadcasts import fan_out
from app.notifications.broadcasts import service as broadcasts
from app.notifications.models import About, Broadcast, deliveries
from bench.environment import BenchEnvironment, Result, at_most

PEOPLE = 100_000

FILL = f"""
INSERT INTO users (username, password_hash, nama_ktp, phone, nomor_hp, preference_tags)
SELECT 'orang' || n, '-', 'Orang ' || n, '+62812' || lpad(n::text, 8, '0'), '0812' || lpad(n::text, 8, '0'), '{{}}'
FROM generate_series(1, {PEOPLE}) AS n
"""


def run(environment: BenchEnvironment) -> Iterator[Result]:
    environment.fill(FILL)
    with environment.app.app_context():
        with unit_of_work():
            broadcasts.announce(About("article", 1))
            db.session.execute(sa.update(Broadcast).values(starts_at=sa.func.now()))
        fan_out.enqueue_due()
        rung = queue.connection().llen("rq:queue:bulk")
        yield Result("jobs enqueued for a broadcast", "at most 1", str(rung), rung <= 1)
        broadcast_id = _broadcast().id
        for _ in range(10):
            fan_out.fan_out_page(broadcast_id)
        before = psutil.Process().memory_info().rss
        started = time.perf_counter()
        while fan_out.fan_out_page(broadcast_id):
            pass
        seconds = time.perf_counter() - started
        grown = (psutil.Process().memory_info().rss - before) / 2**20
        with unit_of_work():
            rows = db.session.scalar(sa.select(sa.func.count()).select_from(deliveries))
        yield Result(
            f"a broadcast to {PEOPLE:,} people, stopped once",
            "one delivery each",
            f"{rows:,} in {seconds:.0f} s",
            rows == _broadcast().recipients == PEOPLE,
        )
        yield at_most("memory that it takes", grown, 16, "MiB more")


def _broadcast() -> Broadcast:
    with unit_of_work():
        return db.session.scalars(sa.select(Broadcast)).one()
