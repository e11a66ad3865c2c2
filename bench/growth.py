"""Benchmark of four hot paths, while their tables grow from 10,000 to 1,000,000 rows.

The benchmark calls the functions of the paths without HTTP, for random rows. The cost of a function is its time divided
by the time of a select by primary key in the same round. Other load slows down both alike.

At every size, one person and one thread have the same number of rows. `--most 10000000` adds a larger size, which takes
much longer. `test_plans.py` checks which index each statement uses.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

import sqlalchemy as sa

from app import wiring
from app.core.database.session import db, unit_of_work
from app.core.web.pagination import Page
from app.forum.schemas import PostQuery
from app.forum.service import reads
from app.identity.models import Role
from app.notifications.delivery import claims
from app.pengingat.ledger import answers
from app.pengingat.ledger.schemas import NewAnswer
from bench.environment import BenchEnvironment, Result, at_most, execute, fill_without_indexes

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
MOST = 1_000_000
#: Maximum ratio of the cost at one size to the cost at the next smaller size. For a `flat` function, this is the
#: maximum ratio of the cost at the largest size to the cost at the smallest size.
MAX_GROWTH = 1.3

#: The measured functions of a table take turns, so that a slow minute of the machine affects all of them.
TURNS, ROUNDS, CALLS, WARM_CALLS = 3, 5, 30, 10

#: Share of the machine's memory for PostgreSQL's buffers, as the manual of PostgreSQL recommends. With the default of
#: 128 MB, the benchmark would measure reads from the operating system's cache.
MEMORY = 0.25

#: Number of replies of one thread, of reminders of one person, and of occurrences of one reminder.
REPLIES_EACH, REMINDERS_EACH, OCCURRENCES_EACH = 10, 10, 100
PEOPLE = 10_000

FIRST = Page(1, 20)


@dataclass(frozen=True)
class HotPath:
    """A measured function.

    The argument of `work` is the number of a row. `before` prepares rows. The time of `before` is not measured.
    """

    name: str
    work: Callable[[int], object]
    before: Callable[[Any, int], object] = lambda _cursor, _n: None
    flat: bool = False


@dataclass(frozen=True)
class GrowthTable:
    """A table that grows.

    The SQL text `fill` contains `{rows}`, the number of rows of this table.
    """

    name: str
    fill: str
    paths: tuple[HotPath, ...]


# --- the measured functions -------------------------------------------------------------------------------------------


def _list(_: int) -> None:
    reads.list_posts(PostQuery(FIRST), None, threads=True)


def _confirm(n: int) -> None:
    reminder = 1 + (n - 1) // OCCURRENCES_EACH
    with unit_of_work():
        answers.confirm(1 + (reminder - 1) // REMINDERS_EACH, reminder, NewAnswer("done"))


def _reopen(cursor: Any, n: int) -> None:
    reopen = """
        UPDATE occurrences SET state = 'pending', answered_at = NULL, answered_via = NULL
        WHERE reminder_id = %s AND due_at > now() - interval '12 hours'
    """
    cursor.execute(reopen, [1 + (n - 1) // OCCURRENCES_EACH])


def _claim(_: int) -> None:
    assert claims.claim("urgent", "messaging") is not None


NONE_DUE = """
UPDATE deliveries SET state = 'sent', settled_at = now()
WHERE queue = 'urgent' AND channel = 'messaging' AND state IN ('pending', 'claimed')
    AND next_try_at < now() + interval '1 hour'
"""
ONE_DUE = f"""
{NONE_DUE};
INSERT INTO deliveries (dedupe_key, queue, channel, kind, payload, due_at, expires_at, next_try_at)
SELECT gen_random_uuid(), 'urgent', 'messaging', 'bench', '{{}}', now(), now() + interval '1 hour', now()
"""


def _tick(_: int) -> None:
    for tick in wiring.TICKS:
        tick()


# --- the tables -----------------------------------------------------------------------------------------------------

PEOPLE_FILL = f"""
INSERT INTO users (id, username, password_hash, nama_ktp)
SELECT n, 'orang' || n, '', 'Orang' FROM generate_series(1::bigint, {PEOPLE}) n
"""

TABLES = (
    GrowthTable(
        # Each thread is followed by its replies. The second half of the replies are replies to the first reply.
        "posts",
        f"""
        INSERT INTO posts (id, category_id, root_id, parent_id, depth, user_id, title, content, use_pseudonym)
        SELECT n, CASE WHEN place = 0 THEN known.ids[1 + n % cardinality(known.ids)] END,
            CASE WHEN place > 0 THEN n - place END, CASE WHEN place > {REPLIES_EACH // 2} THEN n - place + 1 END,
            (place > 0)::int + (place > {REPLIES_EACH // 2})::int, 1 + n * 7919 % {PEOPLE},
            CASE WHEN place = 0 THEN 'Utas' END, 'Kurangi gula dan garam.', n % 3 = 0
        FROM generate_series(1::bigint, {{rows}}) n, LATERAL (SELECT (n - 1) % {REPLIES_EACH + 1} AS place) rest,
            (SELECT array_agg(id) AS ids FROM forum_categories) known
        """,
        (HotPath("first page of the list", _list),),
    ),
    GrowthTable(
        # The rows are in order of their due time: first all occurrences of one day, then all of the next day. The last
        # due time is five minutes ago.
        "occurrences",
        f"""
        TRUNCATE reminders RESTART IDENTITY CASCADE;
        INSERT INTO reminders (id, user_id, tipe, judul, waktu, timezone, details, active_from, planned_until)
        SELECT 1 + n, 1 + n / {REMINDERS_EACH}, 'makan', 'Makan', now() - interval '5 minutes', 'Asia/Jakarta',
            '{{{{}}}}', now() - interval '1 year', now() + interval '60 hours'
        FROM generate_series(0::bigint, {{rows}} / {OCCURRENCES_EACH} - 1) n;
        INSERT INTO occurrences (reminder_id, user_id, tipe, judul, slot, due_at, day, state, answered_at)
        SELECT reminder, 1 + (reminder - 1) / {REMINDERS_EACH}, 'makan', 'Makan', 'makan', due_at, due_at::date,
            CASE WHEN ago > 0 AND reminder % 4 = 0 THEN 'missed' ELSE 'done' END, due_at
        FROM generate_series({OCCURRENCES_EACH} - 1, 0, -1) ago,
            LATERAL (SELECT date_trunc('minute', now() - interval '5 minutes') - ago * interval '1 day' AS due_at) due,
            generate_series(1::bigint, {{rows}} / {OCCURRENCES_EACH}) reminder;
        ANALYZE reminders
        """,
        (HotPath("konfirmasi", _confirm, _reopen),),
    ),
    GrowthTable(
        # A thousand deliveries are planned for later. All other deliveries are sent.
        "deliveries",
        f"""
        INSERT INTO deliveries (dedupe_key, queue, channel, kind, user_id, said, payload,
            created_at, due_at, expires_at, next_try_at, state, attempts, settled_at)
        SELECT 'bench:' || n, 'urgent', 'messaging', 'reminder', 1 + n * 7919 % {PEOPLE}, ARRAY[n],
            '{{{{"bell": "first"}}}}', due_at, due_at, due_at + interval '1 hour', due_at,
            CASE WHEN n > {{rows}} - 1000 THEN 'pending' ELSE 'sent' END, 1, due_at
        FROM generate_series(1::bigint, {{rows}}) n, LATERAL (
            SELECT now() + CASE WHEN n > {{rows}} - 1000 THEN interval '12 hours'
                ELSE (n - {{rows}} - 1) * interval '90 days' / {{rows}} END AS due_at) moment
        """,
        (
            HotPath("claim", _claim, lambda cursor, _: cursor.execute(ONE_DUE), flat=True),
            HotPath("clock's tick", _tick, lambda cursor, _: cursor.execute(NONE_DUE), flat=True),
        ),
    ),
)

#: Query that loads a table, its indexes and the table of users into PostgreSQL's buffers. The first measured calls then
#: need no disk reads.
WARM = """
SELECT pg_prewarm(%(table)s), pg_prewarm('users'), pg_prewarm('pk_users'),
    (SELECT sum(pg_prewarm(indexrelid)) FROM pg_index WHERE indrelid = %(table)s::regclass)
"""


def _fill(cursor: Any, table: GrowthTable, rows: int) -> None:
    """Empty a table and all tables that reference it. Then fill the table with new rows."""
    cursor.execute(f"TRUNCATE {table.name} RESTART IDENTITY CASCADE")
    fill_without_indexes(cursor, [table.name], table.fill.format(rows=rows))
    # The first change of a disk page after a checkpoint is more expensive than later changes. Run a checkpoint for each
    # size, so that this cost is the same for all sizes.
    cursor.execute("CHECKPOINT")
    cursor.execute(WARM, {"table": table.name})
    # Close the connections, because open connections keep query plans for the smaller table.
    db.engine.dispose()


# --- measurement of the costs -----------------------------------------------------------------------------------------


def run(environment: BenchEnvironment) -> Iterator[Result]:
    most = environment.most or (SIZES[1] if environment.short else MOST)
    sizes = [rows for rows in SIZES if rows <= most]
    if len(sizes) < 2:
        raise SystemExit(f"Growth needs two sizes: --most {SIZES[1]} or more.")
    # Only a superuser may prewarm tables and run checkpoints.
    with environment.database(user="postgres") as cursor, environment.app.app_context():
        execute(cursor, f"CREATE EXTENSION pg_prewarm;\n{PEOPLE_FILL}")
        for table in TABLES:
            costs: dict[HotPath, list[float]] = {path: [] for path in table.paths}
            for rows in sizes:
                _fill(cursor, table, rows)
                measured: dict[HotPath, list[float]] = {path: [] for path in costs}
                for turn, path in itertools.product(range(TURNS), costs):
                    measured[path] += _rounds(cursor, path, rows, turn)
                # Use the lower quartile. In some rounds PostgreSQL still writes the new rows to disk, which makes
                # these rounds slower.
                for path, spent in costs.items():
                    spent.append(quantiles(measured[path], n=4)[0])
            yield from (_result(f"growth: {table.name}: {path.name}", path, costs[path], sizes) for path in costs)
            cursor.execute(f"TRUNCATE {table.name} CASCADE")


def _rounds(cursor: Any, path: HotPath, rows: int, turn: int) -> list[float]:
    """Return the median cost in each round. The unit is the median time of a primary-key select in the same round."""
    draw = random.Random(f"{path.name} {turn}")

    def call() -> tuple[float, float]:
        key = draw.randint(1, rows)
        path.before(cursor, key)
        return _seconds(path.work, key), _seconds(_select, 1)

    for _ in range(WARM_CALLS):
        call()
    rounds = [zip(*(call() for _ in range(CALLS)), strict=True) for _ in range(ROUNDS)]
    return [median(spent) / median(floor) for spent, floor in rounds]


def _seconds(work: Callable[[int], object], key: int) -> float:
    started = time.perf_counter()
    work(key)
    seconds = time.perf_counter() - started
    db.session.remove()
    return seconds


def _select(key: int) -> None:
    db.session.execute(sa.select(Role.id, Role.name).where(Role.id == key)).all()


def _result(name: str, path: HotPath, costs: list[float], sizes: list[int]) -> Result:
    by_size = ", ".join(f"{cost:.2f} at {rows:,}" for rows, cost in zip(sizes, costs, strict=True))
    print(f"{name}: {by_size} (primary-key selects)", flush=True)
    if path.flat:
        return at_most(name, costs[-1] / costs[0], MAX_GROWTH, "times, smallest to largest")
    worst = max(large / small for small, large in itertools.pairwise(costs))
    return at_most(name, worst, MAX_GROWTH, "times per tenfold")
