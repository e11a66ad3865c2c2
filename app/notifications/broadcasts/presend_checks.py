"""Checks before a broadcast message is sent: the limits of the recipient, of our number and of all broadcasts."""

from __future__ import annotations

from datetime import date, timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from app.core.database import db_time
from app.core.database.session import db, unit_of_work
from app.core.jobs.queue import BULK
from app.core.lib import local_time
from app.core.settings import settings
from app.identity.models import User
from app.identity.notification_settings import zone_of
from app.notifications.broadcasts import limits
from app.notifications.broadcasts.fan_out import next_daytime, reserve_days
from app.notifications.broadcasts.limits import PACE_ID
from app.notifications.broadcasts.service import first_pace
from app.notifications.delivery.claims import Claimed, ClaimLostError, PostponedError, UndeliverableError
from app.notifications.models import OPEN, Channel, broadcast_pace, deliveries
from app.notifications.senders import sender_status

#: The rate limit gives out slots. A slot is the permission to send one message. An unused slot expires after this time.
BURST = timedelta(seconds=5)


def check_recipient(delivery: Claimed) -> None:
    """Raise an error unless the recipient may get this broadcast now.

    Check the recipient's daytime, opt-out and daily limit, and the warm-up of our number.
    """
    recipient = sa.select(User.accepts_broadcasts, User.domicile, limits.is_new_recipient())
    row = db.session.execute(recipient.where(User.id == delivery.user_id)).one_or_none()
    accepts, domicile, is_new_recipient = row or (False, None, False)
    now, zone = db_time.now(), zone_of(domicile)
    moment = next_daytime(zone, now)
    if moment > now:
        raise PostponedError(moment)
    if not accepts:
        raise UndeliverableError("wants no broadcasts")
    today = now.astimezone(zone).date()
    if today.isoformat() != delivery.payload["day"] and not _move_to(delivery, today):
        raise UndeliverableError("had the day's broadcasts already")
    if is_new_recipient and not _count_new_recipient(delivery, now.astimezone(local_time.JAKARTA).date()):
        raise PostponedError(next_daytime(zone, now + timedelta(days=1)))


def _count_new_recipient(delivery: Claimed, day: date) -> bool:
    """Add one to the number of new recipients on `day`. Return False if the warm-up limit of `day` is reached.

    If the delivery is retried on the same day, its recipient is not counted again.
    """
    # The name `met_on` is stored, and processes of the previous version read and write it during an update.
    if delivery.payload.get("met_on") == day.isoformat():
        return True
    if not limits.count_new_recipient(day):
        return False
    with unit_of_work():
        _record(delivery, met_on=day)
    return True


def _move_to(delivery: Claimed, day: date) -> bool:
    """Count a late delivery on `day` instead of the planned day. Return False if the limit of `day` is reached."""
    assert delivery.user_id is not None  # noqa: S101  # every broadcast has a recipient
    with unit_of_work():
        if not reserve_days([(delivery.user_id, day)]):
            return False
        _record(delivery, day=day)  # if the delivery was cancelled, the raised error rolls the count back
        return True


def _record(delivery: Claimed, **days: date) -> None:
    """Store the given dates in the payload of a delivery. Raise `ClaimLostError` if the delivery was cancelled."""
    dates = sa.literal({name: day.isoformat() for name, day in days.items()}, JSONB)
    which = deliveries.c.id == delivery.id, deliveries.c.state.in_(OPEN)
    update = sa.update(deliveries).where(*which).values(payload=deliveries.c.payload.concat(dates))
    if db.session.scalar(update.returning(deliveries.c.id)) is None:
        raise ClaimLostError


_bulk_due = sa.exists().where(
    deliveries.c.queue == BULK,
    deliveries.c.channel == sa.bindparam("of_channel"),
    deliveries.c.state.in_(("pending", "claimed")),
    deliveries.c.next_try_at <= db_time.now_sql(),
)


def take_slot(channel: Channel = Channel.MESSAGING) -> bool:
    """Reserve the next slot of the rate limit for one due broadcast message. Return whether a message may be sent now.

    All workers share the rate limit. A reserved slot also reduces the budget that `limits.count_budget` stores.
    """
    if not sender_status.may_send(channel):
        return False
    now, values = db_time.now_sql(), {"of_channel": channel}
    spacing = timedelta(minutes=1) / settings.broadcast_per_minute
    slot = (
        sa.update(broadcast_pace)
        .where(
            broadcast_pace.c.id == PACE_ID,
            ~broadcast_pace.c.paused,
            broadcast_pace.c.next_at <= now,
            sa.func.coalesce(broadcast_pace.c.budget, 1) > 0,
            _bulk_due,
        )
        .values(
            next_at=sa.func.greatest(broadcast_pace.c.next_at, now - BURST) + spacing,
            budget=broadcast_pace.c.budget - 1,
        )
        .returning(broadcast_pace.c.id)
    )
    with unit_of_work():
        row = db.session.execute(slot, values).first()
        if row is None:
            # The only row of `broadcast_pace` may not exist yet. Insert the row, or wait until another worker has
            # inserted it. Then try again.
            db.session.execute(first_pace())
            row = db.session.execute(slot, values).first()
    return row is not None
