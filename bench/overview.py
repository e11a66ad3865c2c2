"""Benchmark of the administrators' overview with 1,000,000 log rows.

The time is compared with counts in SQL at each request, and with the overview of a log of 1,000 rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from app.admins.service import overview
from bench.environment import BenchEnvironment, Result, at_least, at_most, median_seconds

FEW, ROWS = 1000, 1_000_000
ROUNDS = 7

PEOPLE = """
INSERT INTO users (username, password_hash, nama_ktp, domicile, is_verified, created_at)
SELECT 'orang' || n, 'x', 'Orang ' || n, (ARRAY['Jawa Barat', 'Bali', 'Aceh', NULL])[1 + n % 4], n % 3 = 0,
    now() - n * interval '10 minutes'
FROM generate_series(1, 5000) n;
"""

FILL = """
INSERT INTO activity_logs (stream_id, log, user_id, event_type, event_name, created_at)
SELECT gen_random_uuid(), 'user', 1 + n % 5000, 'screen', 'open', now() - n * interval '2.5 seconds'
FROM generate_series({}, {}) n;
"""

SUMS = """
INSERT INTO log_days (day, events, active_users)
SELECT (created_at AT TIME ZONE 'Asia/Jakarta')::date, count(*), count(DISTINCT user_id) FROM activity_logs GROUP BY 1
"""

#: Queries that count log rows and users, for comparison. The service does not run these queries, but reads stored sums.
LIVE = (
    "SELECT (created_at AT TIME ZONE 'Asia/Jakarta')::date, count(*), count(DISTINCT user_id) FROM activity_logs"
    " WHERE created_at >= now() - interval '30 days' GROUP BY 1",
    "SELECT (created_at AT TIME ZONE 'Asia/Jakarta')::date, count(*) FROM users GROUP BY 1",
)


def run(environment: BenchEnvironment) -> Iterator[Result]:
    with environment.database() as cursor, environment.app.app_context():

        def count() -> None:
            for statement in LIVE:
                cursor.execute(statement)
                cursor.fetchall()

        environment.fill(PEOPLE + FILL.format(1, FEW))
        few = median_seconds(overview.get, ROUNDS)
        environment.fill(FILL.format(FEW + 1, ROWS) + SUMS)
        live, ours = median_seconds(count, ROUNDS), median_seconds(overview.get, ROUNDS)
    yield at_least(f"overview, {ROWS:,} log rows", live / ours, 30, "times live")
    yield at_most(f"overview, {ROWS:,} log rows", ours / few, 1.5, f"times one of {FEW:,}")
