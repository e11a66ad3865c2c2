"""Benchmark of one tick of the scheduler with 1,000,000 reminders and planned deliveries, none of which is due."""

from __future__ import annotations

from collections.abc import Iterator

from app.notifications import jobs
from bench.environment import BenchEnvironment, Result, at_most, primary_key_selects

REMINDERS = 1_000_000

FILL = f"""
INSERT INTO reminders (user_id, tipe, judul, waktu, timezone, details, active_from, planned_until)
SELECT 1, 'kontrol', 'Kontrol', '2030-01-01T00:00:00Z', 'Asia/Jakarta', '{{}}', now(), now() + interval '60 hours'
FROM generate_series(1, {REMINDERS}) AS n;
INSERT INTO deliveries (dedupe_key, queue, channel, kind, payload, due_at, expires_at, next_try_at)
SELECT 'pengingat:' || n, 'urgent', CASE n % 2 WHEN 0 THEN 'messaging' ELSE 'push_fan_out' END, 'reminder', '{{}}',
    now() + interval '1 hour' + n * interval '0.1 seconds', now() + interval '3 days',
    now() + interval '1 hour' + n * interval '0.1 seconds'
FROM generate_series(1, {REMINDERS}) AS n
"""


def run(environment: BenchEnvironment) -> Iterator[Result]:
    environment.people(1)
    environment.fill(FILL)
    with environment.app.app_context():
        cost = primary_key_selects(jobs.enqueue_due, calls=100)
    yield at_most(f"a tick with nothing due, {REMINDERS:,} reminders", cost, 2, "primary-key selects")
