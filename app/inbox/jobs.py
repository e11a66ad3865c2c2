"""Jobs that handle incoming events, and delete old events. `InboundKind` lists the kinds of events.

The transaction that applies an event also marks it as handled, so an event is neither lost nor repeated if a worker is
killed. An event that is not handled yet is called open. The webhook enqueues the job. The scheduler also checks for
open events every second.
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

from app.core.database.session import db, repeat_in_batches, unit_of_work
from app.core.jobs.queue import enqueue_once_now
from app.core.settings import extensions
from app.inbox import limits
from app.inbox.handlers import InboundHandlers
from app.notifications.delivery import receipts
from app.notifications.models import Inbound, InboundKind, inbound

logger = logging.getLogger(__name__)

#: Time limit of one call of `handle`, in seconds. After this time, the call does not start to handle another event.
#: `HANDLE_S` applies in a worker. `HANDLE_HERE_S` applies in the scheduler, which handles events itself while Redis is
#: unavailable.
HANDLE_S, HANDLE_HERE_S = 20.0, 0.5

#: Days after which old data is removed. `KEEP_TEXT_DAYS` applies to the text of a message, `KEEP_DAYS` to the message
#: itself. `KEEP_RECEIPT_DAYS` applies to an event that is not a message.
KEEP_TEXT_DAYS, KEEP_RECEIPT_DAYS, KEEP_DAYS = 30, 30, 400
FORGET_BATCH = 5000

IGNORED = "ignored"

_LOCKED = (pg.LockNotAvailable, pg.QueryCanceled, pg.DeadlockDetected)

_rows = inbound.c
# This is the same text as the condition of the partial index. Otherwise PostgreSQL does not use the index.
_is_open: sa.ColumnElement[bool] = sa.literal_column("handled_at IS NULL")
_is_single = _rows.kind.in_([sa.literal_column(f"'{kind}'") for kind in InboundKind if kind is not InboundKind.RECEIPT])
_earlier = inbound.alias("earlier")
#: Condition: no earlier message from the phone number of this event is still open. Because of this condition, the
#: messages from one number are handled in order, even if several workers run.
_is_first = ~sa.exists().where(
    _earlier.c.phone == _rows.phone,
    _earlier.c.kind == sa.literal_column(f"'{InboundKind.MESSAGE}'"),
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
        sa.exists().where(receipts.is_open),
    )
)
_count_open = sa.select(sa.func.count()).select_from(inbound).where(_is_open)
_count_danger = (
    sa.select(sa.func.count())
    .where(_rows.received_at > sa.func.statement_timestamp() - timedelta(days=1))
    .where(_rows.outcome.endswith(sa.bindparam("kind", type_=sa.Text)))
)


def handle(limit_s: float = HANDLE_S) -> None:
    """Handle open events until the time limit. If the job is killed, the next run continues with the open events."""
    stop, is_more = monotonic() + limit_s, True
    postponed: set[int] = set()
    handlers: InboundHandlers = extensions()["inbound_handlers"]
    while is_more and monotonic() < stop:
        # Messages and receipts alternate, so that one kind does not delay the other.
        handled = _handle_next(handlers, postponed)
        with unit_of_work():
            is_more = receipts.take(handlers.on_failed, handlers.on_changed) > 0 or handled


def enqueue_open() -> None:
    """Enqueue the job if an event is open. The scheduler calls this function every second.

    If Redis is unavailable, handle some events at once.
    """
    if not db.session.scalar(_anything_open):
        return
    try:
        enqueue_once_now(handle)
    except RedisError:
        handle(HANDLE_HERE_S)


def collect() -> Iterator[Metric]:
    """Yield the number of open events, and of the messages of the last day that tell of a danger."""
    waiting = db.session.scalar(_count_open)
    yield GaugeMetricFamily("inbound_waiting", "Events of messaging providers that wait to be handled", value=waiting)
    dangers = GaugeMetricFamily(
        "inbound_dangers_last_day", "Messages of the last day that tell of a crisis or an emergency", labels=["kind"]
    )
    for kind in sorted(limits.DANGERS):
        dangers.add_metric([kind], db.session.scalar(_count_danger, {"kind": kind}) or 0)
    yield dangers


def delete_old() -> None:
    """Remove the texts of old messages and delete old events, in small transactions."""
    _in_batches(sa.update(inbound).values(text=None), KEEP_TEXT_DAYS, _rows.text.is_not(None))
    _in_batches(sa.delete(inbound), KEEP_RECEIPT_DAYS, _rows.kind != InboundKind.MESSAGE)
    _in_batches(sa.delete(inbound), KEEP_DAYS)


def _handle_next(handlers: InboundHandlers, postponed: set[int]) -> bool:
    """Handle the oldest open event that is not postponed. Return whether there was such an event.

    If a handler fails, close its event. If a handler waited too long for a lock, add its event to `postponed`. So a
    failed or postponed event does not block later events.
    """
    row_id = None
    try:
        with unit_of_work():
            row = db.session.scalar(_next.where(_rows.id.not_in(postponed)))
            if row is None:
                return False
            row_id, handler = row.id, handlers.handlers.get(InboundKind(row.kind))
            row.outcome = handler(row) if handler else IGNORED
            row.handled_at = sa.func.now()
    except (OperationalError, InterfaceError, PoolTimeoutError) as error:
        # After a database error, the event stays open, and a later job retries the event.
        if row_id is None or not isinstance(getattr(error, "orig", None), _LOCKED):
            raise
        logger.warning("inbound event %s: lock timeout", row_id)
        postponed.add(row_id)
    except Exception as error:
        if row_id is None:
            raise
        logger.exception("inbound event %s: its handler raised an error", row_id)
        closing = sa.update(inbound).where(_rows.id == row_id)
        with unit_of_work():
            db.session.execute(closing.values(outcome=f"failed: {type(error).__name__}", handled_at=sa.func.now()))
    return True


def _in_batches(statement: sa.Update | sa.Delete, days: int, *which: sa.ColumnElement[bool]) -> None:
    old = (
        sa.select(_rows.id)
        .where(_rows.received_at < sa.func.statement_timestamp() - timedelta(days=days), *which)
        .limit(FORGET_BATCH)
        .scalar_subquery()
    )
    repeat_in_batches(statement.where(_rows.id.in_(old)), FORGET_BATCH)
