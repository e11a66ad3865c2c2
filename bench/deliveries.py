"""Benchmark of deliveries: their rate with two workers, and their delay when many deliveries are due at once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.environment import BenchEnvironment, Result, at_least, at_most
from bench.messages import add_messages
from dev.simulators import simulators
from dev.stack.waiting import wait_until

WORKERS = 2
MANY = 5000
AT_ONCE = 500

SETTLED = """
SELECT count(*) / extract(epoch FROM max(settled_at) - min(settled_at)),
    percentile_cont(0.99) WITHIN GROUP (ORDER BY extract(epoch FROM settled_at - due_at))
FROM deliveries WHERE dedupe_key LIKE %s HAVING bool_and(state = 'sent')
"""


def run(environment: BenchEnvironment) -> Iterator[Result]:
    second = timedelta(seconds=1)
    with (
        simulators() as outside,
        environment.running(WORKERS, outside.env),
        environment.app.app_context(),
        environment.database() as cursor,
    ):
        _send(cursor, "warm", 50)
        rate, _ = _send(cursor, "rate", MANY)
        yield at_least(f"deliveries with {WORKERS} workers", rate, 250, "a second")
        _, late = _send(cursor, "burst", AT_ONCE, due_in=3 * second, within=second)
        yield at_most(f"{AT_ONCE} due in one second, p99", late, 5, "s late")


def _send(
    cursor: Any, name: str, count: int, due_in: timedelta = timedelta(0), within: timedelta = timedelta(0)
) -> tuple[float, float]:
    """Send messages. Return the number of sent messages a second, and how many seconds they are late (p99)."""
    start = datetime.now(UTC) + due_in
    dues = [start + within * n / count for n in range(count)]
    add_messages(name, dues, expires_at=start + timedelta(hours=1), first_number=81_200_000_000)

    def are_sent() -> bool:
        cursor.execute(SETTLED, [f"{name}:%"])
        return cursor.rowcount == 1

    wait_until(are_sent)
    rate, late = cursor.fetchone()
    return float(rate), float(late)
