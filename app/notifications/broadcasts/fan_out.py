"""Fan-out of broadcasts: a job inserts one delivery for each recipient of an announcement.

The deliveries are inserted page by page. They are sent only in the daytime. The number of
broadcasts per recipient and day is limited. Broadcasts have their own queue, so that no reminder waits behind a
broadcast.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from time import monotonic
from zoneinfo import ZoneInfo

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database import db_time
from app.core.database.session import db, unit_of_work
from app.core.jobs.queue import BULK, enqueue_once_now
from app.core.lib import local_time
from app.core.settings import settings
from app.identity.models import PHONE_IS_PROVEN, User
from app.identity.notification_settings import NotificationSettings, zone_of
from app.notifications import outbox
from app.notifications.delivery import number_verification
from app.notifications.models import (
    About,
    Broadcast,
    BroadcastDay,
    BroadcastState,
    Channel,
    DeliveryState,
    deliveries,
)

KIND = "broadcast"
#: Number of recipients per transaction. The transaction inserts their deliveries.
PAGE = 1000
#: Seconds after which one job stops. The scheduler enqueues the next job within a second.
SLICE_S = 2.0
#: Time after which an unsent delivery of a broadcast expires.
LIFETIME = timedelta(days=7)
KEEP_DAYS = 30


def enqueue_due() -> None:
    """Enqueue a job for each broadcast that is due. The scheduler calls this function every second."""
    due = sa.select(Broadcast.id).where(
        Broadcast.state == BroadcastState.OPEN, Broadcast.starts_at <= db_time.now_sql()
    )
    ids = db.session.execute(due.limit(100)).scalars().all()
    for broadcast_id in ids:
        enqueue_once_now(fan_out, broadcast_id, queue=BULK)


def fan_out(broadcast_id: int) -> None:
    """Insert the deliveries of one broadcast, page by page. If the job is interrupted, the next job continues."""
    stop = monotonic() + SLICE_S
    while fan_out_page(broadcast_id) and monotonic() < stop:
        pass


def fan_out_page(broadcast_id: int) -> bool:
    """Insert one page of deliveries in one transaction. Return whether another page may remain."""
    with unit_of_work():
        broadcast = db.session.scalar(
            sa.select(Broadcast)
            .where(Broadcast.id == broadcast_id, Broadcast.state == BroadcastState.OPEN)
            .with_for_update(skip_locked=True)
        )
        if broadcast is None:
            return False
        people = db.session.execute(_page(broadcast)).all()
        now = db_time.now()
        states = _delivery_states(broadcast, [row.id for row in people])
        unsent = [row for row in people if states.get(row.id, DeliveryState.CANCELLED) == DeliveryState.CANCELLED]
        dues = {row.id: next_daytime(zone_of(row.domicile), now) for row in unsent}
        granted = reserve_days([(user_id, due.date()) for user_id, due in dues.items()])
        outbox.add_all([_draft(broadcast, user_id, dues[user_id], now) for user_id in sorted(granted)])
        broadcast.recipients += len(granted - states.keys())  # people with a cancelled delivery were counted before
        if len(people) < PAGE:
            broadcast.state = BroadcastState.DONE
            return False
        broadcast.cursor = people[-1].id
        return True


def _page(broadcast: Broadcast) -> sa.Select[int, str | None]:
    query = sa.select(User.id, User.domicile).where(
        User.id > broadcast.cursor,
        User.accepts_broadcasts,
        User.phone.is_not(None),
        User.phone_invalid_at.is_(None),
        ~sa.exists().where(NotificationSettings.user_id == User.id, ~NotificationSettings.messages),
    )
    if number_verification.is_needed(KIND):
        query = query.where(PHONE_IS_PROVEN)
    if broadcast.preference_tag is not None:
        query = query.where(User.preference_tags.contains([broadcast.preference_tag]))
    if broadcast.except_user_id is not None:
        query = query.where(User.id != broadcast.except_user_id)
    return query.order_by(User.id).limit(PAGE)


def _delivery_states(broadcast: Broadcast, user_ids: Sequence[int]) -> dict[int | None, str]:
    """Return the states of the deliveries that people already have of this broadcast, by user id.

    Such people exist only after `service.release` has restarted the broadcast from the first recipient.
    """
    keys = [_key(broadcast, user_id) for user_id in user_ids]
    rows = sa.select(deliveries.c.user_id, deliveries.c.state).where(deliveries.c.dedupe_key.in_(keys))
    return {row.user_id: row.state for row in db.session.execute(rows)}


def _key(broadcast: Broadcast, user_id: int) -> str:
    return f"broadcast:{broadcast.id}:{user_id}"


def _draft(broadcast: Broadcast, user_id: int, due: datetime, now: datetime) -> outbox.NewDelivery:
    return outbox.NewDelivery(
        kind=KIND,
        channel=Channel.MESSAGING,
        queue=BULK,
        dedupe_key=_key(broadcast, user_id),
        payload={"day": due.date().isoformat()},
        due_at=due,
        expires_at=now + LIFETIME,
        user_id=user_id,
        about=About(broadcast.kind, broadcast.about_id),
    )


def next_daytime(zone: ZoneInfo, now: datetime) -> datetime:
    """Return `now` if it is within the broadcast hours of this time zone, or else the next start of these hours."""
    first, last = settings.broadcast_hours
    local = now.astimezone(zone)
    if first <= local.hour < last:
        return local
    day = local.date() + timedelta(days=0 if local.hour < first else 1)
    return datetime(day.year, day.month, day.day, first, tzinfo=zone)


def reserve_days(days: Sequence[tuple[int, date]]) -> set[int]:
    """Add 1 to the number of broadcasts of each person and day, unless the number has reached the daily limit.

    Return the ids of the people whose number has changed.
    """
    cap = settings.broadcast_per_user_per_day
    if not days or cap == 0:
        return set()
    statement = insert(BroadcastDay)
    result = db.session.execute(
        statement.on_conflict_do_update(
            index_elements=["user_id", "day"],
            set_={"count": BroadcastDay.count + 1},
            where=BroadcastDay.count < cap,
        ).returning(BroadcastDay.user_id),
        [{"user_id": user_id, "day": day, "count": 1} for user_id, day in days],
    )
    return set(result.scalars())


def delete_old_days() -> None:
    with unit_of_work():
        db.session.execute(
            sa.delete(BroadcastDay).where(BroadcastDay.day < local_time.today() - timedelta(days=KEEP_DAYS))
        )
