"""Broadcasts: functions that announce news to many people, and functions for operators. Workers send the messages."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from datetime import timedelta

import sqlalchemy as sa
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from sqlalchemy.dialects.postgresql import insert

from app.core.database import db_time
from app.core.database.session import db
from app.core.settings import settings
from app.notifications.models import About, Broadcast, BroadcastPause, BroadcastState


def announce(
    about: About,
    *,
    preference_tag: str | None = None,
    except_user_id: int | None = None,
) -> None:
    """Add a broadcast about a subject, unless the subject has one already. The broadcast starts after a random delay.

    The recipients are the people with `preference_tag`, or all people if `preference_tag` is None. The author
    `except_user_id` is never a recipient.
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
        )
        .on_conflict_do_nothing(index_elements=[Broadcast.kind, Broadcast.about_id])
    )


def retag(about: About, preference_tag: str | None) -> None:
    """Change the `preference_tag` of a broadcast. Deliveries that were already added stay unchanged."""
    db.session.execute(  # waits while `fan_out_page` has locked the row
        sa.update(Broadcast).where(*_is_of(about)).values(preference_tag=preference_tag)
    )


def withdraw(about: About) -> None:
    """Withdraw a broadcast. Its unsent deliveries are cancelled when they are claimed."""
    db.session.execute(sa.delete(Broadcast).where(*_is_of(about)))


def hold(about: About) -> None:
    """Stop a broadcast until `release`. Its unsent deliveries wait."""
    db.session.execute(sa.update(Broadcast).where(*_is_of(about)).values(state=BroadcastState.HELD))


def release(about: About) -> None:
    """Release a held broadcast. It continues after its last recipient."""
    db.session.execute(
        sa.update(Broadcast)
        .where(*_is_of(about), Broadcast.state == BroadcastState.HELD)
        .values(state=BroadcastState.OPEN, starts_at=sa.func.greatest(Broadcast.starts_at, sa.func.now()))
    )


def _is_of(about: About) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return Broadcast.kind == about.type, Broadcast.about_id == about.id


def set_paused(paused: bool) -> None:
    """Pause all broadcasts, or continue them."""
    if paused:
        db.session.execute(insert(BroadcastPause).values(id=1).on_conflict_do_nothing())
    else:
        db.session.execute(sa.delete(BroadcastPause))


def is_paused() -> bool:
    """Return whether an administrator has paused all broadcasts."""
    return bool(db.session.scalar(sa.select(sa.exists().select_from(BroadcastPause))))


def count(state: BroadcastState) -> int:
    return db.session.scalar(sa.select(sa.func.count()).where(Broadcast.state == state)) or 0


def collect() -> Iterator[Metric]:
    """Yield whether broadcasts are paused."""
    yield GaugeMetricFamily("broadcasts_paused", "1 while no broadcast goes out", value=float(is_paused()))
