"""Marking of missed occurrences, and creation of alerts to caregivers about missed occurrences.

An occurrence is one due time of a reminder. A job marks it as missed if it has no answer within 60 minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database import db_time
from app.core.database.session import db
from app.identity import care
from app.identity.care import CaregiverLink, Scope
from app.notifications.models import Channel, DeliveryState, Receipt, deliveries
from app.pengingat.models import LATE, AlertReason, CaregiverAlert, OccurrenceState, occurrences

#: Maximum number of occurrences that one run of `miss_overdue` marks.
SWEEP_BATCH = 1000
#: Maximum age of a due time for which an alert is still created.
FRESH = timedelta(hours=24)

_rows = occurrences.c
_alert = CaregiverAlert.__table__.c
_moment = sa.DateTime(timezone=True)
_due_before = sa.bindparam("due_before", type_=sa.DateTime(timezone=True))
_fresh_since = sa.bindparam("fresh_since", type_=_moment)
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
    sa.select(_rows.id, _rows.user_id, _rows.due_at)
    .where(*_is_overdue, ~_is_being_sent)
    .order_by(_rows.due_at)
    .limit(SWEEP_BATCH)
    .with_for_update(skip_locked=True)
    .cte("overdue")
)


def _alerting(of: sa.FromClause, *which: sa.ColumnElement[bool], skip_locked: bool = False) -> sa.CTE:
    """Return a query that locks the caregiver links to alert about these occurrences."""
    links = (
        care.links_with(of.c.user_id, Scope.ALERTS)
        .with_only_columns(CaregiverLink.id, of.c.id.label("occurrence_id"))
        .where(of.c.due_at > _fresh_since, *which)
    )
    return links.with_for_update(read=True, key_share=True, skip_locked=skip_locked, of=CaregiverLink).cte("alerting")


def _alerts(alerting: sa.CTE, *which: sa.ColumnElement[bool]) -> sa.Insert:
    """Return a statement that inserts an alert for each occurrence and each caregiver link of `alerting`."""
    alerts = sa.select(*alerting.c, sa.literal(AlertReason.MISSED.value), _now, _now).where(*which)
    columns = ["link_id", "occurrence_id", "about", "due_at", "created_at"]
    return insert(CaregiverAlert).from_select(columns, alerts).on_conflict_do_nothing()


#: Links that another transaction has locked are skipped. Waiting could cause a deadlock, because the deletion of a link
#: may itself wait for rows that this statement has locked.
_locked_links = _alerting(_overdue, skip_locked=True)
#: SQL condition: the lock on a caregiver link of the occurrence was skipped. The occurrence then stays pending, and the
#: next run marks it, so that its alert is not lost.
_misses_a_link = (
    care.links_with(_rows.user_id, Scope.ALERTS)
    .where(_rows.due_at > _fresh_since, CaregiverLink.id.not_in(sa.select(_locked_links.c.id)))
    .correlate(occurrences)
    .exists()
)
_missed = (
    sa.update(occurrences)
    .where(_rows.id.in_(sa.select(_overdue.c.id)), ~_misses_a_link)
    .values(state=OccurrenceState.MISSED, undelivered=sa.and_(~_was_delivered, ~_was_withdrawn))
    .returning(_rows.id)
    .cte("missed")
)
_alerted = _alerts(_locked_links, _locked_links.c.occurrence_id.in_(sa.select(_missed.c.id))).cte("alerted")
#: Statement that marks overdue occurrences as missed and creates their alerts.
_miss = sa.select(sa.func.count()).select_from(_missed).add_cte(_alerted)


def miss_overdue(now: datetime) -> int:
    """Mark one batch of overdue occurrences as missed, and create alerts. Return the number of marked occurrences."""
    values = {"due_before": now - LATE, "fresh_since": now - FRESH, "now": now}
    is_any = db.session.execute(_longest_overdue, values).all()
    return db.session.scalar(_miss, values) or 0 if is_any else 0


def record_undelivered(occurrence_ids: Sequence[int]) -> None:
    """Record that messages about these occurrences failed, although the messages had counted as sent.

    A missed occurrence becomes `undelivered` if no other channel delivered its message. Caregivers get a correction if
    they were alerted about such an occurrence in the last 24 hours.
    """
    which = _rows.id.in_(occurrence_ids), _rows.state == OccurrenceState.MISSED, ~_rows.undelivered, ~_was_delivered
    turn = sa.update(occurrences).where(*which).values(undelivered=True).returning(_rows.id)
    turned = db.session.scalars(turn).all()
    now = db_time.now()
    is_of_these = _alert.occurrence_id.in_(turned)
    db.session.execute(_following_up(AlertReason.UNDELIVERED, now, is_of_these, _alert.told_at > now - FRESH))


def record_failed_receipt(delivery_id: int, _: str | None) -> None:
    """Call `record_undelivered` for the occurrence of a message that failed after it had counted as sent."""
    query = sa.select(deliveries.c.occurrence_id).where(deliveries.c.id == delivery_id)
    occurrence_id = db.session.scalar(query)
    if occurrence_id is not None:
        record_undelivered([occurrence_id])


def create_missed_alerts(occurrence_ids: Sequence[int], now: datetime) -> None:
    """Create alerts for occurrences that became missed when an answer was taken back. Duplicates are ignored."""
    which = _rows.id.in_(occurrence_ids), _rows.state == OccurrenceState.MISSED
    alerting = _alerting(occurrences, *which)
    db.session.connection().execute(_alerts(alerting), {"fresh_since": now - FRESH, "now": now})


def create_late_alerts(occurrence_ids: Sequence[int], now: datetime) -> None:
    """Create corrections for caregivers who were alerted about missed occurrences that are now done.

    Call this function after the statement that changes the occurrences. A scheduler may be sending alerts about the
    same occurrences. The statement that changes the occurrences then waits for the scheduler, but does not see the
    rows that the scheduler wrote. Only a later statement sees these rows and can create the corrections.
    """
    db.session.execute(_following_up(AlertReason.LATE, now, _alert.occurrence_id.in_(occurrence_ids)))


def _following_up(about: AlertReason, now: datetime, *which: sa.ColumnElement[bool]) -> sa.Insert:
    """Return a statement that inserts a correction (a follow-up alert) for each sent `MISSED` alert."""
    values = (sa.literal(about.value), sa.literal(now), sa.literal(now))
    alerts = sa.select(_alert.link_id, _alert.occurrence_id, *values).where(
        *which, _alert.about == AlertReason.MISSED.value, _alert.told_at.is_not(None)
    )
    columns = ["link_id", "occurrence_id", "about", "due_at", "created_at"]
    return insert(CaregiverAlert).from_select(columns, alerts).on_conflict_do_nothing()
