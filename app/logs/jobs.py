"""Jobs of the logs: store batches from Redis in the table, and prune it."""

from __future__ import annotations

from datetime import timedelta
from time import monotonic

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.jobs.queue import BULK, enqueue_once_now
from app.core.lib import clock
from app.logs import buffer
from app.logs.models import activity_logs

#: Seconds after which a job stops, so that others get the worker; the next tick enqueues another within a second.
INGEST_S = 2.0

PRUNE_BATCH = 10_000


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


def enqueue_ingest() -> None:
    """Run every second by the scheduler: enqueue one job while records wait."""
    if buffer.has_records():
        enqueue_once_now(ingest, queue=BULK)


def prune(days: int) -> int:
    """Delete rows older than `days` days, in small transactions; returns how many. The daily sums stay."""
    before, total = clock.now() - timedelta(days=days), 0
    old = (
        sa.select(activity_logs.c.id)
        .where(activity_logs.c.created_at < before)
        .order_by(activity_logs.c.created_at)
        .limit(PRUNE_BATCH)
        .scalar_subquery()
    )
    while True:
        with unit_of_work():
            result = db.session.execute(sa.delete(activity_logs).where(activity_logs.c.id.in_(old)))
            count = int(result.rowcount)  # type: ignore[attr-defined]  # a DELETE's result counts rows
        total += count
        if count < PRUNE_BATCH:
            return total
