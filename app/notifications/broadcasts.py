"""News for many people: a section announces it in the transaction that makes it, and the worker sends it later.

An announcement is one row, whatever the number of people; who gets it is decided when it starts.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, mapped_column

from app.core import clock
from app.core.db import Base, Created, db
from app.core.settings import settings


class BroadcastState(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    WITHDRAWN = "withdrawn"


class Broadcast(Base, Created):
    """One announcement: an article, a video or a thread."""

    __tablename__ = "broadcasts"

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(comment="article, video or thread")
    record_id: Mapped[int]
    text: Mapped[str]
    preference_tag: Mapped[str | None] = mapped_column(comment="only people with this preference; null: everybody")
    author_id: Mapped[int | None] = mapped_column(comment="who is not told")
    starts_at: Mapped[datetime]
    state: Mapped[str] = mapped_column(server_default=BroadcastState.WAITING)
    last_user_id: Mapped[int] = mapped_column(server_default=sa.text("0"), comment="how far it got")

    __table_args__ = (
        sa.UniqueConstraint("kind", "record_id"),
        sa.Index("ix_broadcasts_open", "starts_at", postgresql_where=sa.text("state IN ('waiting', 'running')")),
    )


def announce(
    kind: str, record_id: int, text: str, *, preference_tag: str | None = None, author_id: int | None = None
) -> None:
    """Tell people of a record after a random delay; announced again, it is told once."""
    delay = timedelta(seconds=random.uniform(*settings.broadcast_delay_seconds))  # noqa: S311  # spreads, hides nothing
    db.session.execute(
        insert(Broadcast)
        .values(
            kind=kind,
            record_id=record_id,
            text=text,
            preference_tag=preference_tag,
            author_id=author_id,
            starts_at=clock.now() + delay,
        )
        .on_conflict_do_nothing(index_elements=["kind", "record_id"])
    )


def withdraw(kind: str, record_id: int) -> None:
    """Stop telling of a record that is gone."""
    db.session.execute(
        sa.update(Broadcast)
        .where(
            Broadcast.kind == kind,
            Broadcast.record_id == record_id,
            Broadcast.state.in_((BroadcastState.WAITING, BroadcastState.RUNNING)),
        )
        .values(state=BroadcastState.WITHDRAWN)
    )
