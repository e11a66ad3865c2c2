"""Jobs of the logs: store batches from Redis in the table, and prune it."""

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
from app.core.lib import clock
from app.identity.models import User
from app.logs import buffer, months
from app.logs.models import ActivityLog, LogDayUser, activity_logs, log_day_users

logger = logging.getLogger(__name__)

#: Seconds after which a job stops, so that others get the worker; the next tick enqueues another within a second.
INGEST_S = 2.0

PRUNE_BATCH = 10_000

#: How far back the sweep looks for records of people who are gone: they waited for minutes at most.
STRANGERS = timedelta(days=2)


def ingest() -> None:
    """Store the waiting records, batch by batch. Killed at any line, it loses nothing and doubles nothing."""
    stop = monotonic() + INGEST_S
    while buffer.has_records() and monotonic() < stop:
        ingest_batch()


def ingest_batch() -> int:
    """Store one batch, and before it those of drains that died; returns how many rows were new."""
    total = 0
    for key in buffer.claim():
        if records := buffer.records_of(key):
            with unit_of_work():
                total += buffer.store(records)
        buffer.drop(key)
    return total


def ingest_all() -> None:
    """Store all that waits by now, what other drains hold included."""
    while buffer.has_records():
        ingest_batch()


def forget_strangers() -> None:
    """The sweep: delete the records of who was erased before these were stored."""
    ingest_all()
    strangers = (
        sa.select(LogDayUser.user_id)
        .distinct()
        .where(LogDayUser.day >= clock.today() - STRANGERS, ~sa.exists().where(User.id == LogDayUser.user_id))
    )
    with unit_of_work():
        for user_id in db.session.scalars(strangers).all():
            for table in (ActivityLog, LogDayUser):
                db.session.execute(
                    sa.delete(table).where(table.user_id == user_id).execution_options(synchronize_session=False)
                )


def enqueue_ingest() -> None:
    """Run every second by the clock: enqueue one job while records wait."""
    if buffer.has_records():
        enqueue_once_now(ingest, queue=BULK)


def make_months_ahead() -> None:
    """Make the partitions of this month and of the next ones, those that are missing."""
    for month in months.ahead():
        try:
            with unit_of_work():
                months.make(month)
        except OperationalError as error:
            if not isinstance(error.orig, pg.LockNotAvailable):
                raise
            # Somebody reads, and whoever writes would wait behind us. There are other hours, and the rest.
            logger.warning("the next partition of the logs waits for the next hour: somebody reads them")
            return


def collect() -> Iterator[Metric]:
    """The gauge of the records that wait to be stored."""
    waiting = connection().llen(buffer.WAITING)
    yield GaugeMetricFamily("activity_logs_waiting", "Log records that wait to be stored", value=waiting)


def prune(days: int) -> tuple[list[str], int]:
    """Delete what is older than `days` days; the daily sums stay.

    Months that are over by then are dropped whole, at once. Of the one in between the rows go, in small transactions.
    Who was active on which day goes with them: it is there for sums that nothing is added to any more.
    Returns the names of the dropped partitions, and how many rows went beside them.
    """
    before = clock.now() - timedelta(days=days)
    with unit_of_work():
        dropped = months.drop_before(before)
    rows, people = activity_logs.c, log_day_users.c
    count = _delete_all(activity_logs, rows.created_at < before, (rows.created_at, rows.id))
    _delete_all(log_day_users, people.day < before.astimezone(clock.JAKARTA).date(), (people.day, people.user_id))
    return dropped, count


def _delete_all(table: sa.Table, which: sa.ColumnElement[bool], key: tuple[sa.Column[Any], sa.Column[Any]]) -> int:
    """Delete these rows in small transactions, the oldest first; returns how many they were."""
    some = sa.select(*key).where(which).order_by(key[0]).limit(PRUNE_BATCH)
    total = 0
    while True:
        with unit_of_work():
            result = db.session.execute(sa.delete(table).where(sa.tuple_(*key).in_(some)))
            count = int(result.rowcount)  # type: ignore[attr-defined]  # a DELETE's result counts rows
        total += count
        if count < PRUNE_BATCH:
            return total
