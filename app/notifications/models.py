"""The outbox: everything that leaves the service as a message or a push is first a row here."""

from __future__ import annotations

import uuid
from datetime import date, datetime
from enum import StrEnum
from typing import cast

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Delete, Detach, Personal, Rows
from app.core.database.session import Base, Created


class Channel(StrEnum):
    """How a delivery leaves. Each channel has its own lane in a drain, so that a dead one holds up no other."""

    MESSAGING = "messaging"
    PUSH = "push"
    #: One push to a person becomes, when it falls due, one push to each of their subscriptions of that moment.
    PUSH_FAN_OUT = "push_fan_out"


class State(StrEnum):
    PENDING = "pending"
    #: A worker sends it; its lease ends at `next_try_at`, after which anybody may claim it.
    CLAIMED = "claimed"
    SENT = "sent"
    #: Refused for good, or called twice without knowing what came of it.
    FAILED = "failed"
    #: Not sent before it expired.
    MISSED = "missed"
    CANCELLED = "cancelled"


#: States that a drain still has to do with.
OPEN = (State.PENDING, State.CLAIMED)


class Delivery(Base, Created):
    """One message or push to one target."""

    __tablename__ = "deliveries"
    __personal__ = Personal(
        of=("user_id",), phones=("target",), export=Rows(without=("claim_token", "last_error")), erase=Delete()
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    dedupe_key: Mapped[str] = mapped_column(unique=True, comment="one effect, one key, however often it is added")
    queue: Mapped[str] = mapped_column(comment="urgent or bulk: whose drain sends it")
    channel: Mapped[str]
    kind: Mapped[str] = mapped_column(comment="what it is about: password_reset, reminder, broadcast, ...")
    subject: Mapped[str | None] = mapped_column(comment="what it belongs to and is cancelled with")
    user_id: Mapped[int | None] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), index=True)
    occurrence_id: Mapped[int | None] = mapped_column(
        comment="of a reminder: the row of its ledger. No foreign key: the ledger is kept far longer than a delivery"
    )
    target: Mapped[str | None] = mapped_column(
        comment="E.164 number or subscription id; null: wherever the person is reached when it is sent"
    )
    payload: Mapped[dict[str, object]] = mapped_column(JSONB, comment="emptied in production once settled")
    due_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(comment="not sent by then, it is missed")
    state: Mapped[str] = mapped_column(server_default=State.PENDING)
    attempts: Mapped[int] = mapped_column(sa.Integer, server_default=sa.text("0"))
    deaths: Mapped[int] = mapped_column(
        sa.Integer, server_default=sa.text("0"), comment="attempts whose worker was never heard of again"
    )
    unknowns: Mapped[int] = mapped_column(
        sa.Integer,
        server_default=sa.text("0"),
        comment="calls that may have reached the provider and whose outcome nobody knows, the present one included",
    )
    next_try_at: Mapped[datetime] = mapped_column(comment="nobody touches it before; the end of a claim's lease")
    claim_token: Mapped[uuid.UUID | None]
    settled_at: Mapped[datetime | None]
    provider_ref: Mapped[str | None]
    last_error: Mapped[str | None]

    __table_args__ = (
        # The tick, the claim and the expiry look at these rows alone, however many are settled.
        sa.Index(
            "ix_deliveries_open",
            "queue",
            "channel",
            "next_try_at",
            postgresql_where=sa.text("state IN ('pending', 'claimed')"),
        ),
        sa.Index(
            "ix_deliveries_subject",
            "subject",
            postgresql_where=sa.text("state IN ('pending', 'claimed')"),
        ),
        sa.Index("ix_deliveries_created_at", "created_at"),
        sa.Index("ix_deliveries_occurrence_id", "occurrence_id", postgresql_where=sa.text("occurrence_id IS NOT NULL")),
    )


class BroadcastState(StrEnum):
    #: Waiting for its moment, or being fanned out page by page.
    OPEN = "open"
    DONE = "done"


class Broadcast(Base, Created):
    """Something new that many may want to hear of: one row an event, fanned out to its recipients by the worker."""

    __tablename__ = "broadcasts"
    __personal__ = Personal(of=("except_user_id",), export=Rows(), erase=Detach())

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(comment="forum_thread, article or video")
    subject: Mapped[str] = mapped_column(unique=True, comment="what it tells of, as in forum_thread:5; announced once")
    text: Mapped[str]
    preference_tag: Mapped[str | None] = mapped_column(comment="only people with this preference; null: everybody")
    except_user_id: Mapped[int | None] = mapped_column(comment="who wrote it")
    starts_at: Mapped[datetime] = mapped_column(comment="after the random delay")
    state: Mapped[str] = mapped_column(server_default=BroadcastState.OPEN)
    cursor: Mapped[int] = mapped_column(server_default=sa.text("0"), comment="the last user that a page has reached")
    recipients: Mapped[int] = mapped_column(server_default=sa.text("0"))

    __table_args__ = (sa.Index("ix_broadcasts_open", "starts_at", postgresql_where=sa.text("state = 'open'")),)


class BroadcastPace(Base):
    """One row: when the next broadcast message may go, and whether any may."""

    __tablename__ = "broadcast_pace"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    next_at: Mapped[datetime]
    paused: Mapped[bool] = mapped_column(server_default=sa.false())


class BroadcastDay(Base):
    """How many broadcasts a person gets on one day of theirs."""

    __tablename__ = "broadcast_days"
    __personal__ = Personal(of=("user_id",), export=Rows(), erase=Delete())

    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True, index=True)
    count: Mapped[int] = mapped_column(sa.Integer)


#: For statements that have no use for objects.
deliveries = cast(sa.Table, Delivery.__table__)
broadcast_pace = cast(sa.Table, BroadcastPace.__table__)
