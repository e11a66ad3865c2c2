"""Broadcasts: functions that announce news to many people, and functions for operators. Workers send the messages."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from datetime import timedelta

import sqlalchemy as sa
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from sqlalchemy.dialects.postgresql import Insert, insert

from app.core.database import db_time
from app.core.database.session import db
from app.core.settings import settings
from app.notifications import outbox
from app.notifications.broadcasts.fan_out import KIND
from app.notifications.broadcasts.limits import PACE_ID
from app.notifications.models import (
    About,
    Broadcast,
    BroadcastDay,
    BroadcastPace,
    BroadcastState,
    DeliveryState,
    broadcast_pace,
    deliveries,
)

#: `hold` ignores a finished broadcast that was created longer ago than this.
NEWS = timedelta(days=7)


def announce(
    about: About,
    *,
    preference_tag: str | None = None,
    except_user_id: int | None = None,
    is_held: bool = False,
) -> None:
    """Add a broadcast about a subject, unless the subject has one already. The broadcast starts after a random delay.

    The recipients are the people with `preference_tag`, or all people if `preference_tag` is None. The author
    `except_user_id` is never a recipient.
    With `is_held`, the broadcast waits for `release`.
    """
    shortest, longest = settings.broadcast_delay_seconds
    delay = timedelta(seconds=shortest + secrets.randbelow(longest - shortest + 1))
    db.session.execute(
        insert(Broadcast)
        .values(
            kind=about.type,
            about_id=about.id,
            preference_tag=preference_tag,
            except_user_id=except_user_id,
            starts_at=db_time.now() + delay,
            state=BroadcastState.HELD if is_held else BroadcastState.OPEN,
        )
        .on_conflict_do_nothing(index_elements=[Broadcast.kind, Broadcast.about_id])
    )


def retag(about: About, preference_tag: str | None) -> None:
    """Change the `preference_tag` of a broadcast. Deliveries that were already added stay unchanged."""
    db.session.execute(  # waits while `fan_out_page` has locked the row
        sa.update(Broadcast).where(*_is_of(about)).values(preference_tag=preference_tag)
    )


def withdraw(about: About) -> None:
    """Withdraw a broadcast, and cancel its unsent deliveries."""
    db.session.execute(sa.delete(Broadcast).where(*_is_of(about)))  # waits while `fan_out_page` has locked the row
    _cancel(about)


def hold(about: About) -> None:
    """Stop a broadcast until `release`, and cancel its unsent deliveries."""
    is_unfinished = sa.or_(
        Broadcast.state == BroadcastState.OPEN, Broadcast.created_at > sa.func.statement_timestamp() - NEWS
    )
    db.session.execute(  # waits while `fan_out_page` has locked the row
        sa.update(Broadcast).where(*_is_of(about), is_unfinished).values(state=BroadcastState.HELD)
    )
    _cancel(about)


def _cancel(about: About) -> None:
    """Cancel the unsent deliveries about a subject, and subtract them from the daily counts of their recipients."""
    day = sa.cast(deliveries.c.payload["day"].astext, sa.Date).label("day")
    unsent = (
        sa.select(deliveries.c.user_id, day)
        .where(
            *outbox.is_about(about),
            deliveries.c.kind == KIND,
            deliveries.c.state == DeliveryState.PENDING,
            deliveries.c.unconfirmed_calls == 0,
        )
        .with_for_update()
        .cte("unsent")
    )
    db.session.execute(
        sa.update(BroadcastDay)
        .where(BroadcastDay.user_id == unsent.c.user_id, BroadcastDay.day == unsent.c.day)
        .values(count=BroadcastDay.count - 1)
        .execution_options(synchronize_session=False)
    )
    outbox.cancel(about, [KIND])


def _is_of(about: About) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return Broadcast.kind == about.type, Broadcast.about_id == about.id


def release(about: About) -> None:
    """Release a held broadcast. It starts again from the first recipient, but skips people who have a delivery."""
    db.session.execute(
        sa.update(Broadcast)
        .where(*_is_of(about), Broadcast.state == BroadcastState.HELD)
        .values(state=BroadcastState.OPEN, cursor=0, starts_at=sa.func.greatest(Broadcast.starts_at, sa.func.now()))
    )


def set_paused(paused: bool) -> None:
    """Pause all broadcasts, or continue them."""
    db.session.execute(first_pace())
    values: dict[str, object] = {"paused": paused, "pause_reason": None}
    if not paused:
        values["resumed_at"] = sa.func.statement_timestamp()
    db.session.execute(sa.update(broadcast_pace).where(broadcast_pace.c.id == PACE_ID).values(values))


def pace() -> BroadcastPace | None:
    """Return the only row of `broadcast_pace`, or None before the first broadcast."""
    return db.session.scalar(sa.select(BroadcastPace).execution_options(populate_existing=True))


def count(state: BroadcastState) -> int:
    return db.session.scalar(sa.select(sa.func.count()).where(Broadcast.state == state)) or 0


def collect() -> Iterator[Metric]:
    """Yield whether broadcasts are paused."""
    paused = db.session.scalar(sa.select(broadcast_pace.c.paused).where(broadcast_pace.c.id == PACE_ID))
    yield GaugeMetricFamily("broadcasts_paused", "1 while no broadcast goes out", value=float(bool(paused)))


def first_pace() -> Insert:
    """Return the statement that inserts the only row of `broadcast_pace`, if it is missing."""
    return (
        insert(BroadcastPace)
        .values(id=PACE_ID, next_at=sa.func.statement_timestamp())
        .on_conflict_do_nothing(index_elements=["id"])
    )
