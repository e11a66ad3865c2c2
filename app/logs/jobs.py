"""Jobs for activity logs: store batches from Redis in the table, and delete old rows."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import timedelta
from time import monotonic
from typing import Any

import sqlalchemy as sa
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from psycopg2 import errors as pg
from sqlalchemy.exc import OperationalError

from app.core.database.session import db, unit_of_work
from app.core.jobs.queue import BULK, connection, enqueue_once_now
from app.core.lib import local_time
from app.identity.models import User
from app.logs import buffer, months
from app.logs.models import ActivityLog, LogDayUser, activity_logs, log_day_users

logger = logging.getLogger(__name__)

#: Seconds after which a job stops, so that other jobs get the worker. The next tick enqueues a new job within a second.
INGEST_S = 2.0

PRUNE_BATCH = 10_000

#: `delete_of_erased_users` checks only records of today and of this many days before. Two days are enough, because a
#: record waits in Redis for minutes at most.
STRANGERS = timedelta(days=2)


def ingest() -> None:
    """Store waiting records in batches. If the job is killed at any point, no record is lost or stored twice."""
    stop = monotonic() + INGEST_S
    while buffer.has_records() and monotonic() < stop:
        ingest_batch()


def ingest_batch() -> int:
    """Store the lists that other ingest jobs have claimed but not finished, then one new list.

    Return the number of new rows.
    """
    total = 0
    for key in buffer.claim():
        if records := buffer.records_of(key):
            with unit_of_work():
                total += buffer.store(records)
        buffer.drop(key)
    return total


def ingest_all() -> None:
    """Store all waiting records, including those that other ingest jobs have claimed."""
    while buffer.has_records():
        ingest_batch()


def delete_of_erased_users() -> None:
    """Delete records of users who were erased before their records were stored."""
    ingest_all()
    strangers = (
        sa.select(LogDayUser.user_id)
        .distinct()
        .where(LogDayUser.day >= local_time.today() - STRANGERS, ~sa.exists().where(User.id == LogDayUser.user_id))
    )
    with unit_of_work():
        for user_id in db.session.scalars(strangers).all():
            for table in (ActivityLog, LogDayUser):
                db.session.execute(
                    sa.delete(table).where(table.user_id == user_id).execution_options(synchronize_session=False)
                )


def enqueue_ingest() -> None:
    """Enqueue one job if records wait. The scheduler calls this every second."""
    if buffer.has_records():
        enqueue_once_now(ingest, queue=BULK)


def make_months_ahead() -> None:
    """Create missing partitions for this month and the next months."""
    for month in months.ahead():
        try:
            with unit_of_work():
                months.make(month)
        except OperationalError as error:
            if not isinstance(error.orig, pg.LockNotAvailable):
                raise
            # A query that reads the table holds a lock on the table. Do not wait longer until the query ends, because
            # writers would then wait behind this statement. The job runs again in an hour. Until then, new rows of the
            # missing months go to `activity_logs_rest`.
            logger.warning("the next log partition is created an hour later: a reader holds a lock on the logs")
            return


def collect() -> Iterator[Metric]:
    """Yield the gauge of records that wait to be stored."""
    waiting = connection().llen(buffer.WAITING)
    yield GaugeMetricFamily("activity_logs_waiting", "Log records that wait to be stored", value=waiting)


def prune(days: int) -> tuple[list[str], int]:
    """Delete records older than `days` days. The daily sums stay.

    Partitions of months that ended more than `days` days ago are dropped. The old rows of other partitions are deleted
    in small transactions. Rows older than `days` days are also deleted from `log_day_users`. That table is needed
    only while the sums of a day can still change.
    Return the names of the dropped partitions, and the number of `activity_logs` rows that the transactions deleted.
    """
    before = local_time.now() - timedelta(days=days)
    with unit_of_work():
        dropped = months.drop_before(before)
    rows, people = activity_logs.c, log_day_users.c
    count = _delete_all(activity_logs, rows.created_at < before, (rows.created_at, rows.id))
    _delete_all(log_day_users, people.day < before.astimezone(local_time.JAKARTA).date(), (people.day, people.user_id))
    return dropped, count


def _delete_all(table: sa.Table, which: sa.ColumnElement[bool], key: tuple[sa.Column[Any], sa.Column[Any]]) -> int:
    some = sa.select(*key).where(which).order_by(key[0]).limit(PRUNE_BATCH)
    total = 0
    while True:
        with unit_of_work():
            result = db.session.execute(sa.delete(table).where(sa.tuple_(*key).in_(some)))
            count = int(result.rowcount)  # type: ignore[attr-defined]  # a DELETE's result counts rows
        total += count
        if count < PRUNE_BATCH:
            return total
