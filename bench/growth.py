"""What each hot path costs at 10,000 to 10,000,000 rows of its main table; `--most 100000` stops earlier.

A cost comes of repeated calls, in this process and on warm connections, of the very functions that the routes and
workers call, for rows all over the table. It is counted in primary-key selects made between them, so that what else the
machine does falls out. Bounded is the worst tenfold; of what is to be flat, all of them together.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import time
from collections.abc import Callable, Iterator
from datetime import date
from statistics import median, quantiles
from typing import Any

import psycopg2
import sqlalchemy as sa
from flask import current_app

from app.core.database.session import autocommit, db, unit_of_work
from app.core.lib import clock
from app.core.web.search import MOST_COUNTED
from app.identity.models import Role
from app.logs import months
from bench import growth_data
from bench.environment import BenchEnvironment, Result, at_most
from bench.growth_paths import CALLS, TABLES, HotPath, Table

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
#: Times that a cost may grow with ten times the rows; of what is to be flat, from the smallest table to the largest.
MOST_GROWTH = 1.3

#: All paths over a table are measured in turn, so that a slow minute of the machine is none of one path alone.
TURNS, ROUNDS, WARM_CALLS = 3, 5, 10

#: Of the machine's memory for PostgreSQL's buffers, as its manual advises: with its default of 128 MB a table of
#: 10,000,000 rows is read from the system's cache, page by page, and that is what would be seen.
MEMORY = 0.25


def run(environment: BenchEnvironment) -> Iterator[Result]:
    most = environment.most or (SIZES[1] if environment.short else SIZES[-1])
    sizes = [rows for rows in SIZES if rows <= most]
    if len(sizes) < 2:
        raise SystemExit(f"Growth is seen at two sizes: --most {SIZES[1]} or more.")
    scanning: set[str] = set()
    growth_data.allow_upkeep(environment.database_url)
    with contextlib.closing(psycopg2.connect(environment.database_url)) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        with environment.app.app_context():
            _make_months()
            for table in TABLES:
                costs: dict[HotPath, list[float]] = {path: [] for path in table.paths(cursor)}
                for rows in sizes:
                    _fill(cursor, table.name, rows, sizes[-1])
                    measured: dict[HotPath, list[float]] = {path: [] for path in costs}
                    for turn, path in itertools.product(range(TURNS), costs):
                        before = growth_data.scanned(cursor)
                        measured[path] += _rounds(path, rows, turn)
                        # The smallest table PostgreSQL may well read whole, where a tenth of it is meant.
                        if rows > sizes[0] and _scans(path, growth_data.scanned(cursor) - before):
                            scanning.add(f"{table.name}: {path.name} at {rows:,}")
                    for path, spent in costs.items():
                        spent.append(_undisturbed(measured[path]))
                yield from (_result(table, path, sizes, spent) for path, spent in costs.items())
                for name in table.empty:
                    cursor.execute(f"TRUNCATE {name} CASCADE")
    yield Result("growth: paths that scan a table", "none", "; ".join(sorted(scanning)) or "none", not scanning)


def _fill(cursor: Any, table: str, rows: int, people: int) -> None:
    started = time.monotonic()
    growth_data.fill(cursor, table, rows, people)
    print(f"{table}: {rows:,} rows made in {time.monotonic() - started:.0f} s", flush=True)
    # A connection that knew the smaller table would go on comparing plans with what they cost there.
    db.engine.dispose()
    current_app.extensions["autocommit"].dispose()


def _make_months() -> None:
    """The partitions of the days that the logs are spread over."""
    month = clock.today().replace(day=1)
    for _ in range(-(-growth_data.DAYS // 28)):
        month = date.fromordinal(month.toordinal() - 1).replace(day=1)
        with unit_of_work():
            months.make(month)


def _rounds(path: HotPath, rows: int, turn: int) -> list[float]:
    """Of each round the median call, in median primary-key selects that were made in between."""
    draw = random.Random(f"{path.name} {turn}")

    def call() -> tuple[float, float]:
        key = draw.randint(1, rows)
        if path.before is not None:
            path.before(key)
        return _seconds(path.work, key), median(_seconds(_select, 1) for _ in range(CALLS // path.calls))

    for _ in range(WARM_CALLS):
        call()
    rounds = [zip(*(call() for _ in range(path.calls)), strict=True) for _ in range(ROUNDS)]
    _flush_statistics()
    return [median(spent) / median(floor) for spent, floor in rounds]


def _undisturbed(costs: list[float]) -> float:
    """The lower quartile: a disk that still writes what was filled in makes a round dearer, up to fourfold, and hardly
    anything makes one cheaper."""
    return quantiles(costs, n=4)[0]


def _seconds(work: Callable[[int], object], key: int) -> float:
    started = time.perf_counter()
    work(key)
    seconds = time.perf_counter() - started
    db.session.remove()
    return seconds


def _select(key: int) -> None:
    with autocommit() as connection:
        connection.execute(sa.select(Role.id, Role.name).where(Role.id == key)).all()


def _flush_statistics() -> None:
    """Let both connections say now what they have scanned; one thread always gets the same two."""
    flush = sa.text("SELECT pg_stat_force_next_flush()")
    with autocommit() as connection:
        connection.execute(flush)
    db.session.execute(flush)
    db.session.remove()


def _scans(path: HotPath, scanned: int) -> bool:
    """Whether a path's calls have scanned more than the rows that a list's total may count, wherever they stand."""
    return scanned / (ROUNDS * path.calls + WARM_CALLS) > MOST_COUNTED


def _result(table: Table, path: HotPath, sizes: list[int], costs: list[float]) -> Result:
    name = f"growth: {table.name}: {path.name}"
    by_size = ", ".join(f"{cost:.2f} at {rows:,}" for rows, cost in zip(sizes, costs, strict=True))
    print(f"{name}: {by_size} (primary-key selects)", flush=True)
    if path.flat:
        return at_most(name, costs[-1] / costs[0], MOST_GROWTH, "times, smallest to largest")
    worst = max(large / small for small, large in itertools.pairwise(costs))
    return at_most(name, worst, MOST_GROWTH, "times per tenfold")
