"""Checks of reminders right before they are sent."""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.notifications import outbox
from app.notifications.delivery.claims import Claimed
from app.notifications.models import OPEN, Delivery, DeliveryState, Receipt
from app.pengingat.outgoing.render import is_repeat

#: Minimum time between the first message of a reminder and its repeat. If the first message was late, a repeat
#: after less than this time is cancelled. This minimum must be below 10 minutes, the shortest delay of a repeat.
#: Otherwise the repeat of a punctual message would be cancelled.
JUST_NOW = timedelta(minutes=4)


def check(delivery: Claimed) -> None:
    """Cancel a repeat if the first message of its reminder was sent less than `JUST_NOW` ago, or is due.

    If the first message is due and can still be sent, send it now.
    """
    if not is_repeat(delivery):
        return
    now = sa.func.statement_timestamp()
    has_just_left = sa.and_(
        Delivery.state == DeliveryState.SENT,
        Delivery.settled_at > now - JUST_NOW,
        Delivery.receipt.is_distinct_from(Receipt.FAILED),
    )
    # A snooze may have added a first message for later, after the repeat was claimed.
    can_leave = sa.and_(Delivery.state.in_(OPEN), Delivery.due_at <= now, Delivery.expires_at > now)
    late = sa.select(Delivery).where(
        Delivery.occurrence_id == delivery.occurrence_id,
        Delivery.channel == delivery.channel,
        Delivery.target.is_not_distinct_from(delivery.target),
        ~Delivery.payload.has_key("again"),
        sa.or_(has_just_left, can_leave),
    )
    with unit_of_work():
        for first in db.session.scalars(late.with_for_update(key_share=True)).all():
            outbox.cancel(Delivery.dedupe_key == delivery.dedupe_key)
            if first.state == DeliveryState.PENDING:  # send the first message before its next retry
                first.next_try_at = now
