"""The tables of `bench.growth`, filled by PostgreSQL itself.

Whatever the size, a person has as many rows, a circle as many facilities, and a rare word as many matches, so that only
the table grows. Texts are short: the trigrams of long ones would take most of the time.
"""

from __future__ import annotations

import contextlib
from typing import Any

import psycopg2
from psycopg2 import sql
from sqlalchemy import make_url

#: A name that so many rows have, of whatever size the table is, and a word that all have.
RARE, RARE_ROWS, COMMON = "xaverius", 25, "sari"

#: Rows of one person, thread or reminder.
REMINDERS_EACH, REPLIES_EACH, OCCURRENCES_EACH = 10, 10, 100

#: Degrees between facilities, which stand in a square around a point of the equator.
GRID = 0.018

#: Days that logs and settled deliveries are spread over.
DAYS = 90

#: By table. `{rows}` is how many it gets, `{people}` how many users there are beside it.
FILLS = {
    "users": f"""
        INSERT INTO users (id, username, password_hash, nama_ktp, domicile, is_verified, created_at)
        SELECT n, 'orang' || n, '', CASE WHEN n <= {RARE_ROWS} THEN '{RARE} {COMMON}' ELSE 'ani {COMMON}' END,
            (ARRAY['Jawa Barat', 'Bali', 'Aceh', NULL])[1 + n % 4], n % 3 = 0,
            now() - interval '1 second' * (n * 7919 % 31536000)
        FROM generate_series(1::bigint, {{rows}}) n;
        """,
    "forum_threads": f"""
        INSERT INTO forum_threads (id, category_id, user_id, title, content, use_pseudonym, replies_count)
        SELECT n, known.ids[1 + n % cardinality(known.ids)], 1 + n * 7919 % {{people}}, 'Utas', 'Halo', n % 3 = 0,
            {REPLIES_EACH}
        FROM generate_series(1::bigint, {{rows}}) n, (SELECT array_agg(id) AS ids FROM forum_categories) known;
        UPDATE forum_categories SET threads_count = counted.threads
        FROM (SELECT category_id, count(*) AS threads FROM forum_threads GROUP BY 1) counted
        WHERE counted.category_id = id;
        """,
    # The second half of a thread's replies stand below its first one.
    "forum_replies": f"""
        INSERT INTO forum_replies (id, thread_id, parent_id, depth, user_id, content)
        SELECT 1 + n, 1 + n / {REPLIES_EACH}, CASE WHEN place >= {REPLIES_EACH // 2} THEN 1 + n - place END,
            1 + (place >= {REPLIES_EACH // 2})::int, 1 + n * 6007 % {{people}}, 'Kurangi gula dan garam.'
        FROM generate_series(0::bigint, {{rows}} - 1) n, LATERAL (SELECT n % {REPLIES_EACH} AS place) rest;
        """,
    "faskes": f"""
        INSERT INTO faskes (id, nama, lat, lng, jenis, province, created_at)
        SELECT 'bench-' || n, CASE WHEN n <= {RARE_ROWS} THEN '{RARE} {COMMON}' ELSE 'klinik {COMMON}' END,
            (n / side - side / 2) * {GRID}, 110 + (n % side - side / 2) * {GRID}, 'klinik', 'Jawa Barat',
            now() - n * interval '1 second'
        FROM generate_series(1::bigint, {{rows}}) n, (SELECT sqrt({{rows}})::bigint AS side) square;
        """,
    "reminders": f"""
        INSERT INTO reminders (id, user_id, tipe, judul, waktu, timezone, details, plan, active_from, planned_until)
        SELECT 1 + n, 1 + n / {REMINDERS_EACH}, 'makan', 'Makan', now(), 'Asia/Jakarta', '{{{{}}}}',
            '{{{{"slots": [{{{{"name": "makan", "time": "07:00", "weekday": null}}}}]}}}}', now(),
            now() + interval '30 hours' + n * interval '6 hours' / {{rows}}
        FROM generate_series(0::bigint, {{rows}} - 1) n;
        """,
    # In the order of their moments, as they come: a day of all reminders after the other, up to yesterday.
    "occurrences": f"""
        INSERT INTO occurrences (reminder_id, user_id, tipe, judul, slot, due_at, day, state, answered_at)
        SELECT reminder, 1 + (reminder - 1) / {REMINDERS_EACH}, 'makan', 'Makan', 'makan', due_at, due_at::date,
            CASE WHEN reminder % 4 = 0 THEN 'missed' ELSE 'done' END, due_at
        FROM generate_series(1, {OCCURRENCES_EACH}) day,
            LATERAL (SELECT now() - interval '1 day' * ({OCCURRENCES_EACH} + 1 - day) AS due_at) moment,
            generate_series(1::bigint, {{rows}} / {OCCURRENCES_EACH}) reminder;
        """,
    # All settled, but for a thousand that are planned.
    "deliveries": f"""
        INSERT INTO deliveries (dedupe_key, queue, channel, kind, subject, user_id, occurrence_id, payload,
            created_at, due_at, expires_at, next_try_at, state, attempts, settled_at)
        SELECT 'bench:' || n, 'urgent', 'messaging', 'reminder', 'pengingat:' || n / 100, 1 + n * 7919 % {{people}}, n,
            '{{{{}}}}', due_at, due_at, due_at + interval '1 hour', due_at,
            CASE WHEN n > {{rows}} - 1000 THEN 'pending' ELSE 'sent' END, 1, due_at
        FROM generate_series(1::bigint, {{rows}}) n, LATERAL (
            SELECT now() + CASE WHEN n > {{rows}} - 1000 THEN interval '12 hours'
                ELSE (n - {{rows}} - 1) * interval '{DAYS} days' / {{rows}} END AS due_at) moment;
        """,
    "activity_logs": f"""
        TRUNCATE log_days, log_day_users;
        INSERT INTO activity_logs (event_id, log, user_id, event_type, event_name, created_at)
        SELECT gen_random_uuid(), 'user', 1 + n * 7919 % {{people}}, 'screen', 'open',
            now() - ({{rows}} - n) * interval '{DAYS} days' / {{rows}}
        FROM generate_series(1::bigint, {{rows}}) n;
        """,
}

#: What is cheaper to make once than to keep with every row: how to drop it, and how to make it again.
SCAFFOLD = """
SELECT format('ALTER TABLE %%s DROP CONSTRAINT %%I', conrelid::regclass, conname),
       format('ALTER TABLE %%s ADD CONSTRAINT %%I %%s', conrelid::regclass, conname, pg_get_constraintdef(oid))
FROM pg_constraint WHERE contype IN ('u', 'f') AND conrelid = %(table)s::regclass
UNION ALL
SELECT format('DROP INDEX %%I', indexname), replace(indexdef, ' ON ONLY ', ' ON ') FROM pg_indexes
WHERE tablename = %(table)s AND indexname NOT IN (SELECT conname FROM pg_constraint)
"""

#: A table with its partitions and indexes into PostgreSQL's buffers, and the people whom its rows belong to. What fills
#: or vacuums it leaves it out, and a call would pay for the pages that nobody has asked for yet: hardly any of a small
#: table, all of a large one.
WARM = """
SELECT pg_prewarm(relid) FROM pg_partition_tree(%(table)s) WHERE isleaf
UNION ALL
SELECT pg_prewarm(indexrelid) FROM pg_index JOIN pg_partition_tree(%(table)s) ON relid = indrelid WHERE isleaf
UNION ALL
SELECT pg_prewarm('users') + pg_prewarm('pk_users')
"""


def allow_upkeep(database_url: str) -> None:
    """Let `fill` warm tables and make checkpoints: once a database, as the superuser of the bench's own PostgreSQL."""
    with (
        contextlib.closing(psycopg2.connect(database_url, user="postgres")) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("CREATE EXTENSION pg_prewarm")
        owner = make_url(database_url).username or ""
        cursor.execute(sql.SQL("GRANT pg_checkpoint TO {}").format(sql.Identifier(owner)))
        connection.commit()


def fill(cursor: Any, table: str, rows: int, people: int) -> None:
    """Give a table so many rows, whatever it held; what refers to it is emptied."""
    cursor.execute("SET synchronous_commit = off; SET work_mem = '256MB'; SET maintenance_work_mem = '1GB'")
    cursor.execute(f"TRUNCATE {table} RESTART IDENTITY CASCADE")
    cursor.execute(SCAFFOLD, {"table": table})
    scaffold = cursor.fetchall()
    for drop, _ in scaffold:
        cursor.execute(drop)
    cursor.execute(FILLS[table].format(rows=rows, people=people))
    for _, make in scaffold:
        cursor.execute(make)
    cursor.execute(f"VACUUM ANALYZE {table}")
    # The first change of a page after a checkpoint logs it whole. Without one here a small table, written a second ago,
    # pays that for no page, and a large one, during which there were checkpoints, for nearly each.
    cursor.execute("CHECKPOINT")
    cursor.execute(WARM, {"table": table})
    cursor.execute("SELECT pg_stat_force_next_flush()")


def scanned(cursor: Any) -> int:
    """How many rows sequential scans have read, of whatever table."""
    cursor.execute("SELECT coalesce(sum(seq_tup_read), 0)::bigint FROM pg_stat_user_tables")
    rows: int = cursor.fetchone()[0]
    return rows
