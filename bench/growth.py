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
from statistics import median, quantiles
from typing import Any, NamedTuple

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
from bench.environment import BenchEnvironment, Result, at_most

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
#: The measured functions of a table take turns, so that a slow minute of the machine affects all of them.
ROUNDS, CALLS = 15, 30

#: Number of replies of one thread, of reminders of one person, and of occurrences of one reminder.
REPLIES_EACH, REMINDERS_EACH, OCCURRENCES_EACH = 10, 10, 100
PEOPLE = 10_000


class HotPath(NamedTuple):
    """A measured function.

    The argument of `work` is the number of a reminder. `before` is an SQL statement about this reminder that prepares
    the call. Its time is not measured.
    """

    name: str
    work: Callable[[int], object]
    before: str = "SELECT"


# --- the measured functions -------------------------------------------------------------------------------------------


def _list(_: int) -> None:
    reads.list_posts(PostQuery(Page(1, 20)), None, threads=True)


def _confirm(reminder: int) -> None:
    with unit_of_work():
        answers.confirm(1 + (reminder - 1) // REMINDERS_EACH, reminder, NewAnswer("done"))


def _claim(_: int) -> None:
    assert claims.claim("urgent", "messaging") is not None


def _tick(_: int) -> None:
    for tick in wiring.TICKS:
        tick()


UNANSWERED = """
UPDATE occurrences SET state = 'pending', answered_at = NULL, answered_via = NULL
WHERE reminder_id = %(reminder)s AND due_at > now() - interval '12 hours'
"""
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

# --- the tables -----------------------------------------------------------------------------------------------------

PEOPLE_FILL = f"""
INSERT INTO users (id, username, password_hash, nama_ktp)
SELECT n, 'orang' || n, '', 'Orang' FROM generate_series(1::bigint, {PEOPLE}) n
"""
#: Each thread is followed by its replies. The second half of the replies are replies to the first reply.
POSTS = f"""
INSERT INTO posts (id, category_id, root_id, parent_id, depth, user_id, title, content, use_pseudonym)
SELECT n, CASE WHEN place = 0 THEN known.ids[1 + n % cardinality(known.ids)] END,
    CASE WHEN place > 0 THEN n - place END, CASE WHEN place > {REPLIES_EACH // 2} THEN n - place + 1 END,
    (place > 0)::int + (place > {REPLIES_EACH // 2})::int, 1 + n * 7919 % {PEOPLE},
    CASE WHEN place = 0 THEN 'Utas' END, 'Kurangi gula dan garam.', n % 3 = 0
FROM generate_series(1::bigint, ROWS) n, LATERAL (SELECT (n - 1) % {REPLIES_EACH + 1} AS place) rest,
    (SELECT array_agg(id) AS ids FROM forum_categories) known
"""
#: The rows are in order of their due time: first all occurrences of one day, then all of the next day. The last due
#: time is five minutes ago.
OCCURRENCES = f"""
TRUNCATE reminders CASCADE;
INSERT INTO reminders (id, user_id, tipe, judul, waktu, timezone, details, active_from, planned_until)
SELECT 1 + n, 1 + n / {REMINDERS_EACH}, 'makan', 'Makan', now() - interval '5 minutes', 'Asia/Jakarta',
    '{{}}', now() - interval '1 year', now() + interval '60 hours'
FROM generate_series(0::bigint, ROWS / {OCCURRENCES_EACH} - 1) n;
INSERT INTO occurrences (reminder_id, user_id, tipe, judul, slot, due_at, day, state, answered_at)
SELECT reminder, 1 + (reminder - 1) / {REMINDERS_EACH}, 'makan', 'Makan', 'makan', due_at, due_at::date,
    CASE WHEN ago > 0 AND reminder % 4 = 0 THEN 'missed' ELSE 'done' END, due_at
FROM generate_series({OCCURRENCES_EACH} - 1, 0, -1) ago,
    LATERAL (SELECT date_trunc('minute', now() - interval '5 minutes') - ago * interval '1 day' AS due_at) due,
    generate_series(1::bigint, ROWS / {OCCURRENCES_EACH}) reminder
"""
#: A thousand deliveries are planned for later. All other deliveries are sent.
DELIVERIES = f"""
INSERT INTO deliveries (dedupe_key, queue, channel, kind, user_id, said, payload,
    created_at, due_at, expires_at, next_try_at, state, attempts, settled_at)
SELECT 'bench:' || n, 'urgent', 'messaging', 'reminder', 1 + n * 7919 % {PEOPLE}, ARRAY[n],
    '{{"bell": "first"}}', due_at, due_at, due_at + interval '1 hour', due_at,
    CASE WHEN n > ROWS - 1000 THEN 'pending' ELSE 'sent' END, 1, due_at
FROM generate_series(1::bigint, ROWS) n, LATERAL (
    SELECT now() + CASE WHEN n > ROWS - 1000 THEN interval '12 hours'
        ELSE (n - ROWS - 1) * interval '90 days' / ROWS END AS due_at) moment
"""
#: SQL that fills a table, and the measured functions. `ROWS` stands for the number of rows.
TABLES = {
    "posts": (POSTS, [HotPath("first page of the list", _list)]),
    "occurrences": (OCCURRENCES, [HotPath("konfirmasi", _confirm, UNANSWERED)]),
    "deliveries": (DELIVERIES, [HotPath("claim", _claim, ONE_DUE), HotPath("clock's tick", _tick, NONE_DUE)]),
}

# --- measurement of the costs -----------------------------------------------------------------------------------------


def run(environment: BenchEnvironment) -> Iterator[Result]:
    sizes = [rows for rows in SIZES if rows <= environment.most]
    environment.fill(PEOPLE_FILL)
    with environment.database() as cursor, environment.app.app_context():
        for table, (fill, paths) in TABLES.items():
            costs: dict[HotPath, list[float]] = {path: [] for path in paths}
            for rows in sizes:
                environment.fill(f"TRUNCATE {table} CASCADE; {fill.replace('ROWS', str(rows))}")
                db.engine.dispose()  # because open connections keep query plans for the smaller table
                measured = [[_cost(cursor, path, rows) for path in paths] for _ in range(1 + ROUNDS)]
                # The first round warms up. Use the lower quartile, because in some rounds PostgreSQL still writes the
                # new rows to disk.
                for path, spent in zip(paths, zip(*measured[1:], strict=True), strict=True):
                    costs[path].append(quantiles(spent, n=4)[0])
            yield from (_result(f"growth: {table}: {path.name}", costs[path], sizes) for path in paths)
            cursor.execute(f"TRUNCATE {table} CASCADE")


def _cost(cursor: Any, path: HotPath, rows: int) -> float:
    """Return the median time of some calls. The unit is the median time of a primary-key select between them."""
    spent, floor = [], []
    for _ in range(CALLS):
        reminder = random.randint(1, rows // OCCURRENCES_EACH)
        cursor.execute(path.before, {"reminder": reminder})
        spent.append(_seconds(path.work, reminder))
        floor.append(_seconds(_select, 1))
    return median(spent) / median(floor)


def _seconds(work: Callable[[int], object], key: int) -> float:
    started = time.perf_counter()
    work(key)
    seconds = time.perf_counter() - started
    db.session.remove()
    return seconds


def _select(key: int) -> None:
    db.session.execute(sa.select(Role.id, Role.name).where(Role.id == key)).all()


def _result(name: str, costs: list[float], sizes: list[int]) -> Result:
    by_size = ", ".join(f"{cost:.2f} at {rows:,}" for rows, cost in zip(sizes, costs, strict=True))
    print(f"{name}: {by_size} (primary-key selects)", flush=True)
    if "deliveries" in name:
        return at_most(name, costs[-1] / costs[0], 1.3, "times, smallest to largest")
    worst = max(large / small for small, large in itertools.pairwise(costs))
    return at_most(name, worst, 1.3, "times per tenfold")
