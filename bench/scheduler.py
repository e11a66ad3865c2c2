"""Benchmark of one tick of the scheduler with 1,000,000 reminders and planned deliveries, none of which is due."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from statistics import median

import psycopg2
import sqlalchemy as sa

from app.core.database.session import db
from app.identity.models import User
from app.notifications import jobs
from bench.environment import BenchEnvironment, Result, at_most

REMINDERS = 1_000_000
ROUNDS = 7
CALLS = 300

FILL = f"""
INSERT INTO reminders (user_id, tipe, judul, waktu, timezone, details, active_from, planned_until)
SELECT 1, 'kontrol', 'Kontrol', '2030-01-01T00:00:00Z', 'Asia/Jakarta', '{{}}', now(), now() + interval '60 hours'
FROM generate_series(1, {REMINDERS}) AS n;
INSERT INTO deliveries (dedupe_key, queue, channel, kind, payload, due_at, expires_at, next_try_at)
SELECT 'pengingat:' || n, 'urgent', CASE n % 2 WHEN 0 THEN 'messaging' ELSE 'push_fan_out' END, 'reminder', '{{}}',
    now() + interval '1 hour' + n * interval '0.1 seconds', now() + interval '3 days',
    now() + interval '1 hour' + n * interval '0.1 seconds'
FROM generate_series(1, {REMINDERS}) AS n;
ANALYZE reminders; ANALYZE deliveries;
"""


def run(environment: BenchEnvironment) -> Iterator[Result]:
    environment.people(1)
    connection = psycopg2.connect(environment.database_url)
    with connection, connection.cursor() as cursor:
        cursor.execute(FILL)
    connection.close()
    by_key = sa.select(User.id, User.username).where(User.id == 1)
    with environment.app.app_context():

        def select() -> None:
            db.session.execute(by_key).one()

        ticks: list[float] = []
        for _ in range(ROUNDS):
            floor = _seconds(select)
            ticks.append(_seconds(jobs.enqueue_due) / floor)
    yield at_most(f"a tick with nothing due, {REMINDERS:,} reminders", median(ticks), 2, "primary-key selects")


def _seconds(work: Callable[[], object]) -> float:
    work()
    started = time.perf_counter()
    for _ in range(CALLS):
        work()
    return time.perf_counter() - started
