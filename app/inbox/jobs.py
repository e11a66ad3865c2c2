"""The jobs of what came in: handling each row once, and forgetting what people wrote.

The row is the truth. A row is closed in the transaction that does what follows from it, so a worker may die anywhere.
The doorbell rings for what somebody waits for, and the clock looks every second for what is left.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import timedelta
from time import monotonic

import sqlalchemy as sa
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from psycopg2 import errors as pg
from redis.exceptions import RedisError
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.core.database.session import autocommit, db, unit_of_work
from app.core.jobs.queue import enqueue_once_now
from app.core.settings import extensions
from app.inbox.hearing import Hearing
from app.notifications.delivery import receipts
from app.notifications.models import Heard, Inbound, inbound

logger = logging.getLogger(__name__)

#: Seconds after which a job stops, so that others get the worker; and that the clock itself takes while Redis is away.
HANDLE_S, HANDLE_HERE_S = 20.0, 0.5

#: Days that somebody's words are kept, and receipts, and that somebody wrote at all.
KEEP_TEXT_DAYS, KEEP_RECEIPT_DAYS, KEEP_DAYS = 30, 30, 400
FORGET_BATCH = 5000

IGNORED = "ignored"

_LOCKED = (pg.LockNotAvailable, pg.QueryCanceled, pg.DeadlockDetected)

_rows = inbound.c
_is_open: sa.ColumnElement[bool] = sa.literal_column("handled_at IS NULL")  # as the index of open rows says
_is_single = _rows.kind.in_([sa.literal_column(f"'{kind}'") for kind in Heard if kind is not Heard.RECEIPT])
_earlier = inbound.alias("earlier")
#: What somebody wrote first is handled first, by whichever worker.
_is_first = ~sa.exists().where(
    _earlier.c.phone == _rows.phone,
    _earlier.c.kind == sa.literal_column(f"'{Heard.MESSAGE}'"),
    _earlier.c.handled_at.is_(None),
    _earlier.c.id < _rows.id,
)
_next = (
    sa.select(Inbound)
    .where(_is_open, _is_single, _is_first)
    .order_by(_rows.id)
    .limit(1)
    .with_for_update(skip_locked=True, of=Inbound)
)
_anything_open = sa.select(
    sa.or_(
        sa.exists().where(_is_open, _is_single),
        sa.exists().where(receipts.open_receipts(sa.func.statement_timestamp())),
    )
)
_count_open = sa.select(_rows.kind, sa.func.count()).where(_is_open).group_by(_rows.kind)


def handle(limit_s: float = HANDLE_S) -> None:
    """Do what follows from all that came in. Killed at any line it loses nothing and does nothing twice."""
    stop, is_more = monotonic() + limit_s, True
    postponed: set[int] = set()
    while is_more and monotonic() < stop:
        handled = _handle_next(postponed)  # neither waits for all of the other
        is_more = _take_receipts() or handled


def enqueue_open() -> None:
    """The clock's tick: a job while something is open, or without Redis a little of it here."""
    with autocommit() as connection:
        if not connection.scalar(_anything_open):
            return
    try:
        enqueue_once_now(handle)
    except RedisError:
        handle(HANDLE_HERE_S)


def collect() -> Iterator[Metric]:
    """The gauge of what came in and is not handled yet."""
    with autocommit() as connection:
        counts: dict[str, int] = dict(iter(connection.execute(_count_open)))
    gauge = GaugeMetricFamily(
        "inbound_waiting", "Events of messaging providers that wait to be handled", labels=["kind"]
    )
    for kind in Heard:
        gauge.add_metric([kind], counts.get(kind, 0))
    yield gauge


def forget() -> None:
    """Empty what people wrote long ago, and drop what nobody asks for any more, in small transactions."""
    _in_batches(sa.update(inbound).values(text=None), KEEP_TEXT_DAYS, _rows.text.is_not(None))
    _in_batches(sa.delete(inbound), KEEP_RECEIPT_DAYS, _rows.kind != Heard.MESSAGE)
    _in_batches(sa.delete(inbound), KEEP_DAYS)


def _take_receipts() -> bool:
    with unit_of_work():
        return receipts.take(_tell_failure) > 0


def _tell_failure(delivery_id: int, code: str | None) -> None:
    for listener in _hearing().failed_receipts:
        listener(delivery_id, code)


def _handle_next(postponed: set[int]) -> bool:
    """Handle the oldest open row without the postponed ones. Return whether there was one.

    Close a row whose handler fails. Postpone a row that waits too long for locks of others. Both hold up nobody.
    """
    row_id = None
    try:
        with unit_of_work():
            row = db.session.scalar(_next.where(_rows.id.not_in(postponed)))
            if row is None:
                return False
            row_id, handler = row.id, _hearing().handlers.get(Heard(row.kind))
            row.outcome = handler(row) if handler else IGNORED
            row.handled_at = sa.func.now()
    except (OperationalError, InterfaceError, PoolTimeoutError) as error:
        # The row is as it was. The next job tries it again.
        if row_id is None or not isinstance(getattr(error, "orig", None), _LOCKED):
            raise
        logger.warning("inbound %s waited too long for a lock", row_id)
        postponed.add(row_id)
    except Exception as error:
        if row_id is None:
            raise
        logger.exception("inbound %s broke its handler", row_id)
        _close(row_id, f"failed: {type(error).__name__}")
    return True


def _close(row_id: int, outcome: str) -> None:
    with unit_of_work():
        closing = sa.update(inbound).where(_rows.id == row_id).values(outcome=outcome, handled_at=sa.func.now())
        db.session.execute(closing)


def _in_batches(statement: sa.Update | sa.Delete, days: int, *which: sa.ColumnElement[bool]) -> None:
    old = (
        sa.select(_rows.id)
        .where(_rows.received_at < sa.func.statement_timestamp() - timedelta(days=days), *which)
        .limit(FORGET_BATCH)
        .scalar_subquery()
    )
    while True:
        with unit_of_work():
            result = db.session.execute(statement.where(_rows.id.in_(old)))
        if result.rowcount < FORGET_BATCH:  # type: ignore[attr-defined]  # such a result counts rows
            return


def _hearing() -> Hearing:
    hearing: Hearing = extensions()["hearing"]
    return hearing
