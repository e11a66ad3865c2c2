"""The worker's part in logs: batches from Redis into the table."""

from __future__ import annotations

from datetime import timedelta
from time import monotonic

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.jobs.queue import BULK, enqueue_once_now
from app.core.lib import clock
from app.logs import buffer
from app.logs.models import activity_logs

#: Then others have their turn; the clock rings again within a second.
TURN_S = 2.0

PRUNE_BATCH = 10_000


def ingest() -> None:
    """Store what waits, batch by batch. Killed at any line, it loses nothing and doubles nothing."""
    stop = monotonic() + TURN_S
    while buffer.waits() and monotonic() < stop:
        ingest_batch()


def ingest_batch() -> int:
    """Store one batch, and first what a drain that died had taken; returns how many rows were new."""
    total = 0
    for key in buffer.take():
        if records := buffer.records_of(key):
            with unit_of_work():
                total += buffer.store(records)
        buffer.drop(key)
    return total


def enqueue_ingest() -> None:
    """The clock's tick: one job while records wait."""
    if buffer.waits():
        enqueue_once_now(ingest, queue=BULK)


def prune(days: int) -> int:
    """Delete rows older than so many days, in small transactions; returns how many. The daily sums stay."""
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
            gone = db.session.execute(sa.delete(activity_logs).where(activity_logs.c.id.in_(old)))
            count = int(gone.rowcount)  # type: ignore[attr-defined]  # a DELETE's result counts rows
        total += count
        if count < PRUNE_BATCH:
            return total
