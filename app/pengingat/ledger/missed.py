"""Marking of missed occurrences.

An occurrence is one due time of a reminder. A job marks it as missed if it has no answer within 60 minutes.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

import sqlalchemy as sa

from app.core.database import db_time
from app.core.database.session import db
from app.notifications.models import DeliveryState, deliveries
from app.pengingat.ledger import alerts, bells
from app.pengingat.models import LATE, OccurrenceState, occurrences

#: Maximum number of occurrences that one run of `miss_overdue` marks.
SWEEP_BATCH = 1000

_rows = occurrences.c
_due_before = sa.bindparam("due_before", type_=sa.DateTime(timezone=True))
_now = sa.bindparam("now", type_=sa.DateTime(timezone=True))
_is_undelivered = sa.and_(
    ~sa.exists().where(bells.rang_for(), bells.is_accepted()),
    sa.exists().where(bells.rang_for(), bells.is_failed(db_time.now_sql())),
)
_is_being_sent = sa.exists().where(
    bells.rang_for(), deliveries.c.state == DeliveryState.CLAIMED, deliveries.c.next_try_at > _now
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
    .values(state=OccurrenceState.MISSED, undelivered=_is_undelivered)
    .returning(_rows.id)
)


def is_any_overdue(now: datetime) -> bool:
    return bool(db.session.execute(_longest_overdue, {"due_before": now - LATE}).all())


def miss_overdue(now: datetime) -> None:
    """Mark one batch of overdue occurrences as missed, and create alerts."""
    marked = db.session.scalars(_missed, {"due_before": now - LATE, "now": now}).all()
    if marked:
        alerts.add_missed(marked, now)


def follow_receipts(delivery_ids: Collection[int]) -> None:
    """Set `undelivered` of missed occurrences anew, after new receipts of these deliveries or a recall."""
    of_these = sa.exists().where(bells.rang_for(), deliveries.c.id.in_(delivery_ids))
    people = sa.select(deliveries.c.user_id).where(deliveries.c.id.in_(delivery_ids))
    rang_at = sa.select(sa.func.min(deliveries.c.due_at)).where(deliveries.c.id.in_(delivery_ids))
    turned = (
        sa.update(occurrences)
        .where(
            _rows.user_id.in_(people),
            _rows.due_at > rang_at.scalar_subquery() - 12 * LATE,  # for the index: the last snooze ends before
            _rows.state == OccurrenceState.MISSED,
            of_these,
            _rows.undelivered != _is_undelivered,
        )
        .values(undelivered=~_rows.undelivered)
    )
    db.session.execute(turned.execution_options(synchronize_session=False))
