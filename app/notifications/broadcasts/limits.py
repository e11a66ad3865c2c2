"""Limits on broadcasts: the provider's limit, the warm-up of a new number, and a pause after opt-outs or failures.

Warm-up means that a new sending number sends broadcasts to a limited number of new recipients each day.
"""

from __future__ import annotations

import logging
from datetime import date, timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.core.jobs.queue import BULK, QUEUES, URGENT
from app.core.settings import settings
from app.identity.models import User
from app.notifications.models import Channel, DeliveryState, Receipt, broadcast_pace, deliveries
from app.notifications.senders import sender_status
from app.notifications.senders.models import Sender, SenderState, senders

logger = logging.getLogger(__name__)

PACE_ID = 1
#: Broadcasts are paused if at least 10 of the last 200 broadcast messages are bad. If there are fewer than 200
#: messages, 10 bad messages are still enough. A message is bad if the provider refused it or failed to deliver it, or
#: if the recipient has opted out since.
RECENT_MESSAGES, MIN_BAD_MESSAGES = 200, 10
#: In its warm-up, a new number may send to 50 new recipients a day. This limit is doubled after every three good days,
#: see `end_day`. After 33 good days, the warm-up ends, and the number of new recipients is unlimited.
FIRST_PEOPLE, GOOD_DAYS = 50, 3
WARM_AFTER_DAYS = 33

_rows = deliveries.c
_now = sa.func.statement_timestamp()
_day = timedelta(hours=24)


# --- the provider's limit ---------------------------------------------------------------------------------------------


def count_budget() -> None:
    """Store how many more broadcast messages the limits allow, or null without a provider. See `_left`.

    Until the next count, `presend_checks.take_slot` subtracts 1 for each broadcast message.
    """
    sender = sender_status.current()
    budget = None if sender is None else _left(sender)
    db.session.execute(
        sa.update(broadcast_pace)
        .where(broadcast_pace.c.id == PACE_ID, broadcast_pace.c.budget.is_distinct_from(budget))
        .values(budget=budget)
    )


def _left(sender: Sender) -> int:
    """Return how many more broadcast messages the limits allow.

    The result is the smaller of the two numbers below, and at least 0. Without a reported quota, only the first number
    is used.

    - the sender's limit of different recipients in 24 hours, or `BROADCAST_PER_DAY` if the provider names no limit,
      minus the recipients in `_people_of_a_day`
    - the paid messages that are left, minus the urgent messages that are due in the next 24 hours
    """
    limit = settings.broadcast_per_day if sender.limit_24h is None else sender.limit_24h
    lefts = [limit - (db.session.scalar(_people_of_a_day) or 0)]
    # Ignore a quota of 0, because 0 may mean that our plan has no quota. If the quota is really used up, the provider
    # refuses the next message.
    if sender.quota:
        lefts.append(sender.quota - (db.session.scalar(_coming_messages) or 0))
    return max(0, min(lefts))


_is_message = _rows.channel == Channel.MESSAGING
_is_coming = sa.and_(
    _rows.queue == URGENT,
    _is_message,
    # same text as in the index `ix_deliveries_open`, so that PostgreSQL uses the index
    sa.literal_column("state IN ('pending', 'claimed')"),
    _rows.next_try_at < _now + _day,
)
_whom = sa.func.coalesce(sa.cast(_rows.user_id, sa.Text), _rows.target)
#: Number of different recipients of the messages that were sent in the last 24 hours, and of the urgent messages that
#: are due in the next 24 hours.
_people_of_a_day = sa.select(sa.func.count()).select_from(
    sa.union(
        sa.select(_whom).where(
            _rows.queue.in_(QUEUES), _is_message, _rows.settled_at > _now - _day, _rows.state == DeliveryState.SENT
        ),
        sa.select(_whom).where(_is_coming),
    ).subquery()
)
_coming_messages = sa.select(sa.func.count()).where(_is_coming)


# --- a new number -----------------------------------------------------------------------------------------------------

_is_new_to_us = ~sa.exists().where(_rows.user_id == User.id, _is_message, _rows.state == DeliveryState.SENT)
_people_a_day = sa.cast(FIRST_PEOPLE * sa.func.power(2, sa.func.div(senders.c.warmup_days, GOOD_DAYS)), sa.Integer)


def is_new_recipient() -> sa.ColumnElement[bool]:
    """Return an SQL condition: our number is in its warm-up, and we have never sent a message to the person."""
    which = sender_status.key()
    if which is None:
        return sa.false()
    is_warming = sa.exists().where(*sender_status.is_sender(which), senders.c.warmup_days.is_not(None))
    return sa.and_(is_warming, _is_new_to_us)


def count_new_recipient(today: date) -> bool:
    """Add 1 to the new recipients of the day `today`. Return False if the warm-up limit is already reached."""
    which = sender_status.key()
    if which is None:
        return True
    counted = (
        sa.update(senders)
        .where(
            *sender_status.is_sender(which),
            sa.or_(senders.c.warmup_on.is_distinct_from(today), senders.c.new_people < _people_a_day),
        )
        .values(
            new_people=sa.case((senders.c.warmup_on == today, senders.c.new_people + 1), else_=1),
            warmup_on=today,
        )
        .returning(senders.c.number)
    )
    return db.session.execute(counted).first() is not None


def end_day(today: date) -> None:
    """Count the last warm-up day of our numbers if it was good. End the warm-up after `WARM_AFTER_DAYS` good days.

    A day without new recipients is skipped. The day was good if all of this is true when the function runs: the number
    is not down, the number's quality is not red, and broadcasts are not paused.
    """
    is_over = sa.and_(senders.c.warmup_days.is_not(None), senders.c.warmup_on < today, senders.c.new_people > 0)
    is_good = sa.and_(
        senders.c.state != SenderState.DOWN,
        senders.c.quality.is_distinct_from("red"),
        ~sa.exists().where(broadcast_pace.c.paused),
    )
    days = senders.c.warmup_days + sa.case((is_good, 1), else_=0)
    db.session.execute(
        sa.update(senders).where(is_over).values(warmup_days=sa.case((days < WARM_AFTER_DAYS, days)), new_people=0)
    )


# --- failures and opt-outs --------------------------------------------------------------------------------------------


def pause_if_unwelcome() -> bool:
    """Pause broadcasts if at least `MIN_BAD_MESSAGES` of the last `RECENT_MESSAGES` broadcast messages are bad.

    Only messages after the last resume count. If broadcasts were never resumed, the messages of the last 30 days count.
    Return whether this call paused the broadcasts.
    """
    bad = db.session.scalar(_unwelcome) or 0
    if bad < MIN_BAD_MESSAGES:
        return False
    reason = f"{bad} of the last {RECENT_MESSAGES} messages failed or made somebody opt out"
    paused = (
        sa.update(broadcast_pace)
        .where(broadcast_pace.c.id == PACE_ID, ~broadcast_pace.c.paused)
        .values(paused=True, pause_reason=reason)
        .returning(broadcast_pace.c.id)
    )
    if db.session.scalar(paused) is None:
        return False
    logger.error("broadcasts were paused: %s", reason)
    return True


_since = sa.select(broadcast_pace.c.resumed_at).where(broadcast_pace.c.id == PACE_ID).scalar_subquery()
_last = (
    sa.select(
        sa.or_(
            sa.and_(_rows.state == DeliveryState.FAILED, _rows.last_error.like("messaging:%")),
            _rows.receipt.is_not_distinct_from(Receipt.FAILED),
            # Every recipient accepted broadcasts when the message was sent. So a recipient who refuses broadcasts now
            # has opted out after the message.
            sa.and_(_rows.state == DeliveryState.SENT, User.accepts_broadcasts.is_(False)),
        ).label("is_bad")
    )
    .select_from(deliveries.outerjoin(User, User.id == _rows.user_id))
    .where(
        _rows.queue == BULK,
        _is_message,
        _rows.state.in_((DeliveryState.SENT, DeliveryState.FAILED)),
        _rows.settled_at > sa.func.coalesce(_since, _now - timedelta(days=30)),
    )
    .order_by(_rows.settled_at.desc())
    .limit(RECENT_MESSAGES)
    .subquery()
)
_unwelcome = sa.select(sa.func.count()).where(_last.c.is_bad)
