"""Jobs of the outbox: send due deliveries, take back expired messages, and delete old rows.

A drain is a job that sends the due deliveries of one queue. The scheduler enqueues drains. A suspect is a delivery
whose worker died while it sent the delivery.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from threading import Thread

import sqlalchemy as sa
from flask import current_app
from redis.exceptions import RedisError

from app.core.database import db_time
from app.core.database.session import db, unit_of_work
from app.core.jobs.queue import BULK, QUEUES, URGENT, enqueue_once_now
from app.identity import field_encryption
from app.notifications.delivery import drain as delivery_drain
from app.notifications.delivery import recall, sealing, unsaved_outcomes
from app.notifications.delivery.claims import is_suspect
from app.notifications.delivery.settlements import expire
from app.notifications.models import OPEN, Channel, broadcast_pace, deliveries
from app.notifications.senders import sender_status

logger = logging.getLogger(__name__)

#: Type of a function that sends due deliveries. Its arguments are a list of (queue, channel) pairs, and the time limit
#: in seconds.
Run = Callable[[list[tuple[str, Channel]], float], None]

#: `DRAIN_S`: seconds for which a drain claims deliveries. `DRAIN_LIMIT_S`: seconds after which RQ kills the job. A call
#: to a provider may still run after `DRAIN_S`, but the call ends before `DRAIN_LIMIT_S`.
DRAIN_S = 15.0
DRAIN_LIMIT_S = 35
#: If an urgent delivery has been due for longer than this time, the workers of the bulk queue also send urgent
#: deliveries.
LATE = timedelta(seconds=10)

#: WhatsApp may accept a message and refuse the message later, but only within this time.
ANSWER_WITHIN = timedelta(minutes=10)

#: Number of days for which a delivery is kept after its creation. Deliveries that may still be sent are kept longer.
KEEP_DAYS = 30
PRUNE_BATCH = 5000


def drain(queue: str) -> None:
    """Send the due deliveries of a queue. If the job is killed, a later job sends the remaining deliveries."""
    send_due(queue)


def drain_suspects(queue: str) -> None:
    """Send suspects one at a time, in a process that does nothing else."""
    send_due(queue, delivery_drain.run_suspects)


def send_due(queue: str, run: Run = delivery_drain.run) -> None:
    # A drain of the bulk queue also sends urgent deliveries. Otherwise reminders would wait behind broadcasts.
    queues = QUEUES if queue == BULK else (URGENT,)
    unsaved_outcomes.record_all()
    sender_status.clear_cache()
    for name in queues:
        expire(name)
    run([(name, channel) for name in queues for channel in Channel], DRAIN_S)


_rows = deliveries.c
#: The condition has the same text as in the index `ix_deliveries_open`, so that PostgreSQL uses the index.
_is_open: sa.ColumnElement[bool] = sa.literal_column("state IN ('pending', 'claimed')")
_is_due = sa.and_(
    # The channels are literals, so that PostgreSQL uses the index `ix_deliveries_open`.
    _rows.channel.in_([sa.literal_column(f"'{channel}'") for channel in Channel]),
    _is_open,
    _rows.next_try_at <= db_time.now_sql(),
)
#: One query for each queue and channel: the earliest `next_try_at` of an unsent delivery. Each query reads one entry of
#: the index `ix_deliveries_open`. The current time is not a parameter, so PostgreSQL can reuse the query plan.
_earliest = (
    sa.select(_rows.next_try_at)
    .where(_rows.queue == sa.literal_column(f"'{queue}'"), _rows.channel == sa.literal_column(f"'{channel}'"), _is_open)
    .order_by(_rows.next_try_at)
    .limit(1)
    .scalar_subquery()
    for queue in QUEUES
    for channel in Channel
)
#: Query that returns whether any delivery is due. If none is due, `enqueue_due` runs no other query.
_anything_due = sa.select(sa.func.least(*_earliest) <= db_time.now_sql())
#: Condition under which no broadcast may be sent now: broadcasts are paused, the provider's limit is used up, or
#: the rate limit allows no message yet.
_bulk_waits = sa.exists().where(
    sa.or_(
        broadcast_pace.c.paused,
        broadcast_pace.c.next_at > db_time.now_sql(),
        broadcast_pace.c.budget <= 0,
    )
)


def _is_any(queue: str, *which: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    return sa.exists().where(_rows.queue == queue, _is_due, *which)


#: A job that the scheduler enqueues if a condition is true. The items are the job's function, the queue whose
#: deliveries the function sends, the RQ queue of the job, and the condition.
Drain = tuple[Callable[[str], None], str, str, sa.ColumnElement[bool]]


def _drains_of(job: Callable[[str], None], which: sa.ColumnElement[bool]) -> tuple[Drain, ...]:
    return (
        (job, URGENT, URGENT, _is_any(URGENT, which)),
        (job, URGENT, BULK, _is_any(URGENT, which, _rows.next_try_at <= db_time.now_sql() - LATE)),
        (job, BULK, BULK, sa.and_(_is_any(BULK, which), ~_bulk_waits)),
    )


#: While the sender is down, a drain only records expired messages as missed.
_needs_no_sender = sa.or_(
    _rows.channel != sa.literal_column(f"'{Channel.MESSAGING}'"), _rows.expires_at <= db_time.now_sql()
)
#: The drains, by whether messages may be sent.
_drains = {
    may_send: (
        *_drains_of(drain, sa.and_(~is_suspect, which)),
        *_drains_of(drain_suspects, sa.and_(is_suspect, which)),
    )
    for may_send, which in ((True, sa.true()), (False, _needs_no_sender))
}
_due = {may_send: sa.select(*(condition for *_, condition in drains)) for may_send, drains in _drains.items()}


def enqueue_due() -> None:
    """Enqueue a drain for each queue with due deliveries. The scheduler calls this function every second."""
    if not db.session.scalar(_anything_due):
        return
    may_send = sender_status.may_send(Channel.MESSAGING)
    due = db.session.execute(_due[may_send]).one()
    for (job, drained, queue, _), is_due in zip(_drains[may_send], due, strict=True):
        if not is_due:
            continue
        try:
            enqueue_once_now(job, drained, queue=queue, limit_s=DRAIN_LIMIT_S)
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
                send_due(queue)
                send_due(queue, delivery_drain.run_suspects)

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
            occurrences = recall.record(ref, is_taken_back=is_taken_back)
            if occurrences:
                delivery_drain.routing().on_recalled(occurrences)


def reencrypt_sealed() -> None:
    """Encrypt the stored texts of unsent deliveries with the first key, if they are encrypted with another key.

    There are few such texts, because a text is deleted when it is sent. A text whose key is no longer configured stays
    unchanged, and its delivery fails.
    """
    others = ~_rows.sealed.startswith(field_encryption.stored_prefix(), autoescape=True)
    waiting = sa.select(_rows.id, _rows.sealed, _rows.user_id).where(_rows.sealed.is_not(None), others)
    with unit_of_work():
        for id_, sealed, user_id in db.session.execute(waiting.with_for_update(key_share=True)).all():
            try:
                anew = sealing.seal(sealing.unseal(sealed, user_id), user_id)
            except field_encryption.UndecryptableField:
                logger.warning("delivery %s: its text cannot be decrypted", id_)
                continue
            db.session.execute(sa.update(deliveries).where(_rows.id == id_).values(sealed=anew))


def prune() -> None:
    """Delete old deliveries, and the encrypted texts of sent messages.

    A text is kept for `ANSWER_WITHIN` after the message was sent, because WhatsApp may still refuse the message. Old
    deliveries are deleted in small transactions.
    """
    is_over = _rows.settled_at < sa.func.statement_timestamp() - ANSWER_WITHIN
    db.session.execute(sa.update(deliveries).where(_rows.sealed.is_not(None), is_over).values(sealed=None))
    old = (
        sa.select(_rows.id)
        .where(_rows.state.not_in(OPEN), _rows.created_at < sa.func.statement_timestamp() - timedelta(days=KEEP_DAYS))
        .limit(PRUNE_BATCH)
        .scalar_subquery()
    )
    while True:
        with unit_of_work():
            result = db.session.execute(sa.delete(deliveries).where(_rows.id.in_(old)))
        if result.rowcount < PRUNE_BATCH:  # type: ignore[attr-defined]
            return
