"""Jobs for activity logs: store batches of the Redis stream in the table, and delete old rows."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from datetime import timedelta
from time import monotonic

import sqlalchemy as sa
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from sqlalchemy.exc import DataError, IntegrityError

from app.core.database.session import db, repeat_in_batches, unit_of_work
from app.core.jobs.queue import BULK, connection, enqueue_once_now
from app.core.lib import local_time
from app.logs import stream
from app.logs.models import ActivityLog, LogDayUser

logger = logging.getLogger(__name__)

#: Seconds after which a job stops, so that other jobs get the worker. The next tick enqueues a new job within a second.
INGEST_S = 2.0

PRUNE_BATCH = 10_000

#: Statement that inserts rows and updates the daily sums. One statement does both, so the sums count only new rows.
#: Records of erased users are left out. The lock makes an erasure wait until it can see these rows.
_INGEST = sa.text(
    """
    WITH sent AS MATERIALIZED (
        SELECT row.* FROM unnest(CAST(:ids AS text[]), CAST(:records AS jsonb[])) AS entry(stream_id, record),
            jsonb_populate_record(NULL::activity_logs, record || jsonb_build_object(
                'id', nextval('activity_logs_id_seq'), 'stream_id', stream_id
            )) AS row
    ), people AS MATERIALIZED (
        SELECT id FROM users WHERE id IN (SELECT user_id FROM sent) ORDER BY id FOR KEY SHARE
    ), stored AS (
        INSERT INTO activity_logs
        SELECT * FROM sent WHERE user_id IS NULL OR user_id IN (SELECT id FROM people)
        ON CONFLICT (stream_id) DO NOTHING
        RETURNING (created_at AT TIME ZONE 'Asia/Jakarta')::date AS day, user_id
    ), newly_active AS (
        INSERT INTO log_day_users (day, user_id)
        SELECT DISTINCT day, user_id FROM stored WHERE user_id IS NOT NULL ORDER BY day, user_id
        ON CONFLICT DO NOTHING
        RETURNING day
    )
    INSERT INTO log_days AS known (day, events, active_users)
    SELECT day, count(*), (SELECT count(*) FROM newly_active WHERE newly_active.day = stored.day)
    FROM stored GROUP BY day ORDER BY day
    ON CONFLICT (day) DO UPDATE SET
        events = known.events + excluded.events, active_users = known.active_users + excluded.active_users
    """
)


def enqueue_ingest() -> None:
    """Enqueue one job if records wait. The scheduler calls this every second."""
    if stream.waiting():
        enqueue_once_now(ingest, queue=BULK)


def ingest() -> None:
    """Store waiting records in batches. If the job is killed at any point, no record is lost or stored twice."""
    stop = monotonic() + INGEST_S
    while monotonic() < stop and (records := stream.claim()):
        _store_or_drop(records)
        stream.delete(*records)


def store(records: Mapping[str, str]) -> None:
    """Insert the new records and add them to the daily sums. `records` has JSON texts by stream id."""
    db.session.execute(_INGEST, {"ids": list(records), "records": list(records.values())})


def _store_or_drop(records: Mapping[str, str]) -> None:
    """Store records. Drop each record that the database refuses, so that it does not stop all others."""
    try:
        with unit_of_work():
            store(records)
    except (DataError, IntegrityError) as error:
        if len(records) > 1:
            for stream_id, record in records.items():
                _store_or_drop({stream_id: record})
            return
        connection().incr(stream.DROPPED)
        logger.error("log record %s was dropped: %s", *records, type(error.orig).__name__)  # noqa: TRY400  # its text is personal


def collect() -> Iterator[Metric]:
    """Yield the number of records that wait to be stored, and of those that were dropped."""
    yield GaugeMetricFamily("activity_logs_waiting", "Log records that wait to be stored", value=stream.waiting())
    dropped = int(connection().get(stream.DROPPED) or 0)
    yield CounterMetricFamily("activity_logs_dropped", "Log records that the database refused", value=dropped)


def prune(days: int) -> int:
    """Delete records older than `days` days in small transactions. The daily sums stay.

    Days older than that are also deleted from `log_day_users`, because their sums no longer change. Return the number
    of deleted records.
    """
    before = local_time.now() - timedelta(days=days)
    day = before.astimezone(local_time.JAKARTA).date()
    key = sa.tuple_(LogDayUser.day, LogDayUser.user_id)
    old_days = sa.select(LogDayUser.day, LogDayUser.user_id).where(LogDayUser.day < day).limit(PRUNE_BATCH)
    repeat_in_batches(sa.delete(LogDayUser).where(key.in_(old_days)), PRUNE_BATCH)
    old = sa.select(ActivityLog.id).where(ActivityLog.created_at < before).limit(PRUNE_BATCH)
    return repeat_in_batches(sa.delete(ActivityLog).where(ActivityLog.id.in_(old)), PRUNE_BATCH)
