"""Jobs of the outbox: send due deliveries, take back expired messages, and delete old rows.

A drain is a job that sends the due deliveries of one queue. The scheduler enqueues drains.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from threading import Thread

import sqlalchemy as sa
from flask import current_app
from redis.exceptions import RedisError

from app.core.database import db_time
from app.core.database.session import db, repeat_in_batches, unit_of_work
from app.core.jobs.queue import BULK, QUEUES, URGENT, enqueue_once_now
from app.notifications.broadcasts import presend_checks as broadcast_checks
from app.notifications.delivery import drain as delivery_drain
from app.notifications.delivery import recall
from app.notifications.delivery.claims import put_back
from app.notifications.delivery.settlements import expire
from app.notifications.models import OPEN, Channel, deliveries
from app.notifications.senders import sender_status

logger = logging.getLogger(__name__)

#: `DRAIN_S`: seconds for which a drain claims deliveries. `DRAIN_LIMIT_S`: seconds after which RQ kills the job. A call
#: to a provider may still run after `DRAIN_S`, but the call ends before `DRAIN_LIMIT_S`.
DRAIN_S = 15.0
DRAIN_LIMIT_S = 35
#: Seconds after which the workers of the bulk queue also send urgent deliveries that are due.
LATE_S = 10

#: Number of days for which a delivery is kept after its creation. Deliveries that may still be sent are kept longer.
KEEP_DAYS = 30
PRUNE_BATCH = 5000


def drain(queue: str) -> None:
    """Send the due deliveries of a queue. If the job is killed, a later job sends the remaining deliveries."""
    # A drain of the bulk queue also sends urgent deliveries. Otherwise reminders would wait behind broadcasts.
    queues = QUEUES if queue == BULK else (URGENT,)
    sender_status.clear_cache()
    for name in queues:
        expire(name)
        put_back(name)
    delivery_drain.run([(name, channel) for name in queues for channel in Channel], DRAIN_S)


_rows = deliveries.c
#: The lanes of all drains are each queue with each channel. SQLAlchemy would compile a statement with VALUES each time.
_queue, _channel = (
    sa.func.unnest(sa.literal(names, sa.ARRAY(sa.Text))).column_valued() for names in (list(QUEUES), list(Channel))
)
_earliest = (
    sa.select(_rows.next_try_at)
    .where(
        _rows.queue == _queue,
        _rows.channel == _channel,
        # same text as in the index `ix_deliveries_open`, so that PostgreSQL reads one entry of it for each lane
        sa.literal_column("state IN ('pending', 'claimed')"),
        _rows.next_try_at <= db_time.now_sql(),
    )
    .order_by(_rows.next_try_at)
    .limit(1)
    .lateral()
)
#: For each lane with due deliveries, the seconds since the first one became due.
_due = sa.select(_queue, _channel, sa.extract("epoch", db_time.now_sql() - _earliest.c.next_try_at))


def enqueue_due() -> None:
    """Enqueue a drain for each queue with due deliveries. The scheduler calls this function every second."""
    lanes = db.session.execute(_due).all()
    due = [(queue, age_s) for queue, channel, age_s in lanes if sender_status.may_send(Channel(channel))]
    if urgent := [age_s for queue, age_s in due if queue == URGENT]:
        _enqueue(URGENT, on=URGENT)
        if max(urgent) >= LATE_S:
            _enqueue(URGENT, on=BULK)
    if len(due) > len(urgent) and broadcast_checks.may_send():
        _enqueue(BULK, on=BULK)


def _enqueue(drained: str, *, on: str) -> None:
    try:
        enqueue_once_now(drain, drained, queue=on, limit_s=DRAIN_LIMIT_S)
    except RedisError:
        _drain_here(drained)


#: Threads of the scheduler, by queue. While Redis is unavailable, the scheduler sends deliveries in these threads.
_threads: dict[str, Thread] = {}


def _drain_here(queue: str) -> None:
    """Send the due deliveries in a thread of the scheduler, because workers get no jobs without Redis."""
    thread = _threads.get(queue)
    if thread is None or not thread.is_alive():
        new_context = current_app.app_context

        def work() -> None:
            with new_context():
                drain(queue)

        _threads[queue] = Thread(target=work, name=f"drain-{queue}", daemon=True)
        _threads[queue].start()


def take_back() -> None:
    """Take back expired messages that the provider accepted but has not sent yet.

    If the job is killed, its next run continues with the remaining messages.
    """
    for ref in recall.list_held():
        if (is_taken_back := recall.cancel(ref)) is None:
            return
        with unit_of_work():
            if ids := recall.record(ref, is_taken_back=is_taken_back):
                delivery_drain.routing().on_recalled(ids)


def prune() -> None:
    """Delete old deliveries in small transactions."""
    old = (
        sa.select(_rows.id)
        .where(_rows.state.not_in(OPEN), _rows.created_at < sa.func.statement_timestamp() - timedelta(days=KEEP_DAYS))
        .limit(PRUNE_BATCH)
        .scalar_subquery()
    )
    repeat_in_batches(sa.delete(deliveries).where(_rows.id.in_(old)), PRUNE_BATCH)
