"""Marking of missed occurrences.

An occurrence is one due time of a reminder. A job marks it as missed if it has no answer within 60 minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from app.core.database.session import db
from app.notifications.models import Channel, DeliveryState, Receipt, deliveries
from app.pengingat.ledger import alerts
from app.pengingat.models import LATE, OccurrenceState, occurrences

#: Maximum number of occurrences that one run of `miss_overdue` marks.
SWEEP_BATCH = 1000

_rows = occurrences.c
_due_before = sa.bindparam("due_before", type_=sa.DateTime(timezone=True))
_now = sa.bindparam("now", type_=sa.DateTime(timezone=True))
_told_of = deliveries.c.occurrence_id == _rows.id
_was_delivered = sa.exists().where(
    _told_of,
    deliveries.c.state == DeliveryState.SENT,
    # The provider may report a failure after the delivery has become SENT.
    deliveries.c.receipt.is_distinct_from(Receipt.FAILED),
    # A delivery of the channel PUSH_FAN_OUT does not prove that a message was delivered. Such a delivery becomes SENT
    # when it is split into one push for each browser, even if the person has no browser.
    deliveries.c.channel.in_([Channel.MESSAGING, Channel.PUSH]),
)
#: SQL value: true if all deliveries of an occurrence were cancelled. Then the occurrence is not `undelivered`, because
#: the service did not fail. For example, the person answered early, and took the answer back after the messages had
#: expired.
_was_withdrawn = (
    sa.select(sa.func.coalesce(sa.func.bool_and(deliveries.c.state == DeliveryState.CANCELLED), sa.false()))
    .where(_told_of)
    .scalar_subquery()
)
_is_being_sent = sa.exists().where(
    _told_of, deliveries.c.state == DeliveryState.CLAIMED, deliveries.c.next_try_at > _now
)
_is_overdue: tuple[sa.ColumnElement[bool], ...] = (
    sa.literal_column("state = 'pending'"),  # the same text as in the partial index, so that PostgreSQL uses the index
    _rows.due_at <= _due_before,
    sa.or_(_rows.snoozed_until.is_(None), _rows.snoozed_until <= _due_before),
)
#: Cheap query that finds out whether any occurrence is overdue. The query has the same order as the index. Without this
#: order, PostgreSQL scans the table to find the first row.
_longest_overdue = sa.select(_rows.id).where(*_is_overdue).order_by(_rows.due_at).limit(1)
_overdue = (
    sa.select(_rows.id)
    .where(*_is_overdue, ~_is_being_sent)
    .order_by(_rows.due_at)
    .limit(SWEEP_BATCH)
    .with_for_update(skip_locked=True)
    .cte("overdue")
)
_missed = (
    sa.update(occurrences)
    .where(_rows.id.in_(sa.select(_overdue.c.id)))
    .values(state=OccurrenceState.MISSED, undelivered=sa.and_(~_was_delivered, ~_was_withdrawn))
    .returning(_rows.id)
)


def miss_overdue(now: datetime) -> int:
    """Mark one batch of overdue occurrences as missed, and create alerts. Return the number of marked occurrences."""
    values = {"due_before": now - LATE, "now": now}
    if not db.session.execute(_longest_overdue, values).all():
        return 0
    marked = db.session.scalars(_missed, values).all()
    if marked:
        alerts.add_missed(marked, now)
    return len(marked)


def record_undelivered(occurrence_ids: Sequence[int]) -> None:
    """Record that messages about these occurrences failed, although the messages had counted as sent.

    A missed occurrence becomes `undelivered` if no other channel delivered its message.
    """
    which = _rows.id.in_(occurrence_ids), _rows.state == OccurrenceState.MISSED, ~_was_delivered
    db.session.execute(sa.update(occurrences).where(*which).values(undelivered=True))


def record_failed_receipt(delivery_id: int, _: str | None) -> None:
    """Call `record_undelivered` for the occurrence of a message that failed after it had counted as sent."""
    query = sa.select(deliveries.c.occurrence_id).where(deliveries.c.id == delivery_id)
    occurrence_id = db.session.scalar(query)
    if occurrence_id is not None:
        record_undelivered([occurrence_id])
