"""Checks before a broadcast message is claimed and sent."""

from __future__ import annotations

from datetime import datetime, timedelta

import sqlalchemy as sa

from app.core.database import db_time
from app.core.database.session import db
from app.core.settings import settings
from app.core.web import rate_limits
from app.identity.models import User
from app.identity.notification_settings import zone_of
from app.notifications.broadcasts import service
from app.notifications.broadcasts.fan_out import next_daytime
from app.notifications.delivery.claims import Claimed, PostponedError, UnwantedError
from app.notifications.delivery.rendering import NOT_ANY_MORE
from app.notifications.models import Broadcast, BroadcastState, Channel, DeliveryState, deliveries
from app.notifications.senders import sender_status

#: Time after which a message of a held broadcast is looked at again.
HELD_FOR = timedelta(minutes=10)
#: Name of the rate limit that all workers share.
PACE = "broadcasts"


def may_send() -> bool:
    """Return whether a broadcast message may be sent now: nobody has paused them, and the rate limit allows one."""
    return not sender_status.is_red() and not service.is_paused() and _is_in_pace(take=False)


def may_claim(channel: Channel) -> bool:
    """Return whether a row of the bulk queue may be claimed now. A message takes its place in the rate limit."""
    if channel != Channel.MESSAGING:
        return True
    return may_send() and sender_status.may_claim(channel) and _is_in_pace(take=True)


def check_recipient(delivery: Claimed) -> None:
    """Raise an error unless the recipient may get this broadcast now."""
    row = db.session.execute(_recipient, {"of_user": delivery.user_id, **_about(delivery)}).one_or_none()
    if row is None or not row.accepts_broadcasts:
        raise UnwantedError("wants no broadcasts")
    if row.state is None:
        raise UnwantedError(NOT_ANY_MORE)
    now, zone = db_time.now(), zone_of(row.domicile)
    moment = next_daytime(zone, now)
    if moment > now:
        raise PostponedError(moment)
    if row.state == BroadcastState.HELD:
        raise PostponedError(now + HELD_FOR)
    midnight = now.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
    if _others_of_day(delivery, midnight) >= settings.broadcast_per_user_per_day:
        raise UnwantedError("had the day's broadcasts already")


def _is_in_pace(*, take: bool) -> bool:
    return rate_limits.is_allowed(f"{settings.broadcast_per_minute} per minute", PACE, take=take)


def _about(delivery: Claimed) -> dict[str, object]:
    return {"of_kind": delivery.about_type, "of_about": delivery.about_id}


_recipient = (
    sa.select(User.accepts_broadcasts, User.domicile, Broadcast.state)
    .outerjoin(
        Broadcast,
        sa.and_(
            Broadcast.kind == sa.bindparam("of_kind", type_=sa.Text),
            Broadcast.about_id == sa.bindparam("of_about", type_=sa.BigInteger),
        ),
    )
    .where(User.id == sa.bindparam("of_user"))
)


def _others_of_day(delivery: Claimed, midnight: datetime) -> int:
    """Return the number of broadcasts that the person has got since midnight, or gets before this one."""
    rows = deliveries.c
    query = sa.select(sa.func.count()).where(
        rows.user_id == delivery.user_id,
        rows.kind == delivery.kind,
        sa.or_(
            sa.and_(rows.state == DeliveryState.SENT, rows.settled_at >= midnight),
            sa.and_(rows.state == DeliveryState.CLAIMED, rows.id < delivery.id),
        ),
    )
    return db.session.scalar(query) or 0
