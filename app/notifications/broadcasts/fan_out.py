"""Fan-out of broadcasts: a job inserts one delivery for each recipient of an announcement.

The deliveries are inserted page by page, as far as the budget of the day goes. They are sent only in the daytime.
Broadcasts have their own queue, so that no reminder waits behind a broadcast.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from time import monotonic
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from app.core.database import db_time
from app.core.database.session import db, unit_of_work
from app.core.jobs.queue import BULK, QUEUES, URGENT, enqueue_once_now
from app.core.settings import settings
from app.identity.models import PHONE_IS_PROVEN, User
from app.identity.notification_settings import NotificationSettings, zone_of
from app.notifications import outbox
from app.notifications.delivery import number_verification
from app.notifications.models import About, Broadcast, BroadcastState, Channel, DeliveryState, deliveries
from app.notifications.senders import sender_status

KIND = "broadcast"
#: Number of recipients per transaction. The transaction inserts their deliveries.
PAGE = 1000
#: Seconds after which one job stops. The scheduler enqueues the next job within a second.
SLICE_S = 2.0
#: Time after which a broadcast ends, and an unsent delivery of it expires.
LIFETIME = timedelta(days=7)
#: Time after which a broadcast continues, if the budget of the day was used up.
BUDGET_EVERY = timedelta(minutes=1)


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
    """Insert one page of deliveries in one transaction. Return whether another page may be inserted now."""
    with unit_of_work():
        # Two broadcasts at the same time would each use the whole budget.
        db.session.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended("broadcasts:budget", 0))))
        broadcast = db.session.scalar(
            sa.select(Broadcast)
            .where(Broadcast.id == broadcast_id, Broadcast.state == BroadcastState.OPEN)
            .with_for_update(skip_locked=True)
        )
        if broadcast is None:
            return False
        now = db_time.now()
        if broadcast.created_at < now - LIFETIME:
            broadcast.state = BroadcastState.DONE
            return False
        size = min(PAGE, budget())
        if size == 0:
            broadcast.starts_at = now + BUDGET_EVERY
        people = db.session.execute(_page(broadcast).limit(size)).all()
        outbox.send(*(_draft(broadcast, row.id, next_daytime(zone_of(row.domicile), now), now) for row in people))
        broadcast.recipients += len(people)
        if people:
            broadcast.cursor = people[-1].id
        if len(people) < size:
            broadcast.state = BroadcastState.DONE
        return broadcast.state == BroadcastState.OPEN and size > 0


def budget() -> int:
    """Return how many broadcast messages may still be added, at most `PAGE`.

    The budget is the provider's limit of different recipients in 24 hours, or `BROADCAST_PER_DAY` if the provider names
    no limit, without the people who got a message in the last 24 hours or get one in the next. It is also limited by
    the paid messages that reminders do not need. Without a provider there is no limit.
    """
    if sender_status.key() is None:
        return PAGE
    sender = sender_status.current()
    if sender is not None and sender.quality == "red":
        return 0
    limit = settings.broadcast_per_day if sender is None or sender.limit_24h is None else sender.limit_24h
    lefts = [PAGE, limit - (db.session.scalar(_people_of_a_day) or 0)]
    # A quota of 0 may mean that our plan has no quota. If it is really used up, the provider refuses the next message.
    if sender is not None and sender.quota:
        lefts.append(sender.quota - (db.session.scalar(_coming_messages) or 0))
    return max(0, min(lefts))


_rows = deliveries.c
_now = db_time.now_sql()
_day = timedelta(hours=24)
_whom = sa.func.coalesce(sa.cast(_rows.user_id, sa.Text), _rows.target)
_is_coming = sa.and_(
    _rows.queue.in_(QUEUES),
    _rows.channel == Channel.MESSAGING,
    # same text as in the index `ix_deliveries_open`, so that PostgreSQL uses the index
    sa.literal_column("state IN ('pending', 'claimed')"),
    # Broadcasts that wait count whenever they are due, so that they are added to one budget only.
    sa.or_(_rows.queue != URGENT, _rows.next_try_at < _now + _day),
)
_people_of_a_day = sa.select(sa.func.count()).select_from(
    sa.union(
        sa.select(_whom).where(
            _rows.queue.in_(QUEUES),
            _rows.channel == Channel.MESSAGING,
            _rows.settled_at > _now - _day,
            _rows.state == DeliveryState.SENT,
        ),
        sa.select(_whom).where(_is_coming),
    ).subquery()
)
_coming_messages = sa.select(sa.func.count()).where(_is_coming)


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
    return query.order_by(User.id)


def _draft(broadcast: Broadcast, user_id: int, due: datetime, now: datetime) -> outbox.NewDelivery:
    return outbox.NewDelivery(
        kind=KIND,
        channel=Channel.MESSAGING,
        queue=BULK,
        dedupe_key=f"broadcast:{broadcast.id}:{user_id}",
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
