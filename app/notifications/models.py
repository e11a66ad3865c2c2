"""Tables of the outbox, of events from messaging providers, and of broadcasts.

The outbox stores each message and each push as one row before it is sent. Such a row is called a delivery.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import date, datetime
from enum import StrEnum
from typing import NamedTuple, cast

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Delete, Detach, Personal, Rows
from app.core.database.session import Base, Created

#: Kind of the messages about changes to an account. Users cannot switch these messages off, because a thief of the
#: account would switch them off first.
SECURITY_NOTICE = "security_notice"


class Channel(StrEnum):
    """The way a delivery is sent. Workers send each channel in separate threads, so a slow channel delays no other."""

    MESSAGING = "messaging"
    PUSH = "push"
    #: A push to a person. When this row is due, the worker adds one `PUSH` row for each browser of the person.
    PUSH_FAN_OUT = "push_fan_out"


class DeliveryState(StrEnum):
    PENDING = "pending"
    #: One worker may send the delivery until `next_try_at`, the end of its lease. A row still in this state after that
    #: time is a suspect: its worker probably died.
    CLAIMED = "claimed"
    SENT = "sent"
    #: The delivery cannot be sent: it has no recipient, the provider refused it for good, or two calls to the provider
    #: had an unknown outcome.
    FAILED = "failed"
    #: The delivery expired before it was sent.
    MISSED = "missed"
    CANCELLED = "cancelled"


class Receipt(StrEnum):
    """The provider's report on a message that it accepted.

    A stored receipt is replaced only by a receipt that is further down in this list.
    """

    ACCEPTED = "accepted"
    SENT = "sent"
    FAILED = "failed"
    #: This receipt can follow `FAILED`, because providers sometimes report a failure too early.
    DELIVERED = "delivered"
    READ = "read"


#: States of a delivery that may still be sent.
OPEN = (DeliveryState.PENDING, DeliveryState.CLAIMED)


class About(NamedTuple):
    """The subject of a delivery, such as one reminder. All deliveries with one subject can be cancelled together."""

    type: str
    id: int


class Delivery(Base, Created):
    """One message or push to one target."""

    __tablename__ = "deliveries"
    __personal__ = Personal(
        of=("user_id",),
        phones=("target",),
        export=Rows(without=("payload", "sealed", "said", "claim_token", "last_error", "receipt_code")),
        erase=Delete(),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    dedupe_key: Mapped[str] = mapped_column(unique=True, comment="one effect, one key, however often it is added")
    queue: Mapped[str] = mapped_column(comment="urgent or bulk: whose drain sends it")
    channel: Mapped[str]
    kind: Mapped[str] = mapped_column(comment="what it is about: password_reset, reminder, broadcast, ...")
    about_type: Mapped[str | None] = mapped_column(comment="what about_id names: reminder, patient, forum_thread, ...")
    about_id: Mapped[int | None] = mapped_column(comment="what it tells of and is cancelled with")
    user_id: Mapped[int | None] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), index=True)
    occurrence_id: Mapped[int | None] = mapped_column(
        comment="of a reminder: the row of its ledger. No foreign key: the ledger is kept far longer than a delivery"
    )
    target: Mapped[str | None] = mapped_column(
        comment="E.164 number or subscription id; null: wherever the person is reached when it is sent"
    )
    payload: Mapped[dict[str, object]] = mapped_column(
        JSONB, server_default="{}", comment="small values that its words are made of; no text of a person"
    )
    sealed: Mapped[str | None] = mapped_column(
        comment="words that exist only once, as a reset link: encrypted, and dropped once settled"
    )
    said: Mapped[dict[str, object] | None] = mapped_column(JSONB, comment="what was sent; in development alone")
    due_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(comment="not sent by then, it is missed")
    state: Mapped[str] = mapped_column(server_default=DeliveryState.PENDING)
    attempts: Mapped[int] = mapped_column(sa.Integer, server_default=sa.text("0"))
    worker_crashes: Mapped[int] = mapped_column(
        "deaths",
        sa.Integer,
        key="worker_crashes",
        server_default=sa.text("0"),
        comment="attempts whose worker was never heard of again",
    )
    unconfirmed_calls: Mapped[int] = mapped_column(
        "unknowns",
        sa.Integer,
        key="unconfirmed_calls",
        server_default=sa.text("0"),
        comment="calls that may have reached the provider and whose outcome nobody knows, the present one included",
    )
    next_try_at: Mapped[datetime] = mapped_column(comment="nobody touches it before; the end of a claim's lease")
    claim_token: Mapped[uuid.UUID | None]
    settled_at: Mapped[datetime | None]
    provider_ref: Mapped[str | None]
    last_error: Mapped[str | None]
    receipt: Mapped[str | None] = mapped_column(
        comment="accepted, sent, failed, delivered or read: the furthest that the provider told"
    )
    receipt_at: Mapped[datetime | None] = mapped_column(comment="the provider's own time of it")
    receipt_code: Mapped[str | None] = mapped_column(comment="why it failed, in the provider's code")
    provider_state_ref: Mapped[str | None] = mapped_column(
        comment="by which later receipts name the message; provider_ref when null"
    )

    __table_args__ = (
        # The scheduler and the workers query only unsent rows. This index contains no other rows, so it stays small.
        sa.Index(
            "ix_deliveries_open",
            "queue",
            "channel",
            "next_try_at",
            postgresql_where=sa.text("state IN ('pending', 'claimed')"),
        ),
        # Suspects: rows whose worker died while it sent them. A query that uses this index reads no other rows.
        sa.Index(
            "ix_deliveries_suspects",
            "queue",
            "channel",
            "next_try_at",
            postgresql_where=sa.text("state IN ('pending', 'claimed') AND (state = 'claimed' OR deaths > 0)"),
        ),
        # The index has only unsent rows with a subject. If the index had all unsent rows, PostgreSQL could use the
        # index for the query that claims one row, and would then read all unsent rows.
        sa.Index(
            "ix_deliveries_about",
            "about_type",
            "about_id",
            postgresql_where=sa.text("state IN ('pending', 'claimed') AND about_id IS NOT NULL"),
        ),
        # For queries of reminders that may be sent together in one message, see `delivery.groups`.
        sa.Index(
            "ix_deliveries_beside",
            "user_id",
            "due_at",
            postgresql_where=sa.text(
                "state IN ('pending', 'claimed') AND channel = 'messaging' AND occurrence_id IS NOT NULL"
            ),
        ),
        # Messages to a number without an account. The export and the erasure of personal data find them by number.
        sa.Index("ix_deliveries_target", "target", postgresql_where=sa.text("user_id IS NULL")),
        sa.Index("ix_deliveries_created_at", "created_at"),
        sa.Index("ix_deliveries_sealed", "settled_at", postgresql_where=sa.text("sealed IS NOT NULL")),
        # For queries of recently sent or failed messages.
        sa.Index(
            "ix_deliveries_settled",
            "queue",
            "settled_at",
            postgresql_where=sa.text("channel = 'messaging' AND settled_at IS NOT NULL"),
        ),
        sa.Index("ix_deliveries_occurrence_id", "occurrence_id", postgresql_where=sa.text("occurrence_id IS NOT NULL")),
        # For receipts, which identify a message by one of these two references.
        sa.Index("ix_deliveries_provider_ref", "provider_ref", postgresql_where=sa.text("provider_ref IS NOT NULL")),
        sa.Index(
            "ix_deliveries_provider_state_ref",
            "provider_state_ref",
            postgresql_where=sa.text("provider_state_ref IS NOT NULL"),
        ),
    )


class InboundKind(StrEnum):
    """Kinds of events that a webhook reports."""

    MESSAGE = "message"
    RECEIPT = "receipt"
    #: A person switched broadcasts on or off in the menu of WhatsApp.
    PREFERENCE = "preference"
    #: Events about our own number: its connection, its quality rating, and the provider's decisions on the account.
    DEVICE = "device"
    QUALITY = "quality"
    ACCOUNT = "account"


class Inbound(Base):
    """One event from a messaging provider. The webhook stores the row, and a job handles it later."""

    __tablename__ = "inbound"
    __personal__ = Personal(phones=("phone",), export=Rows(without=("event_key",)), erase=Delete())

    id: Mapped[int] = mapped_column(primary_key=True)
    provider: Mapped[str]
    event_key: Mapped[str] = mapped_column(unique=True, comment="one event, one key, however often it is told")
    kind: Mapped[str]
    phone: Mapped[str | None] = mapped_column(comment="E.164: who wrote, or whom a receipt is about")
    text: Mapped[str | None] = mapped_column(comment="what a person wrote; emptied after 30 days")
    ref: Mapped[str | None] = mapped_column(comment="the provider's name of the message that it is about")
    payload: Mapped[dict[str, object]] = mapped_column(
        JSONB, server_default="{}", comment="what else its handler needs; no text of a person"
    )
    received_at: Mapped[datetime] = mapped_column(server_default=sa.func.now())
    handled_at: Mapped[datetime | None]
    outcome: Mapped[str | None] = mapped_column(comment="what was done; 'answered:...' when we wrote back")

    __table_args__ = (
        sa.CheckConstraint("length(text) <= 1000", name="text_is_short"),
        sa.Index("ix_inbound_open", "kind", "id", postgresql_where=sa.text("handled_at IS NULL")),
        # For queries of the time of a person's last message, and of the number of our answers to the person.
        sa.Index("ix_inbound_phone", "phone", "received_at", postgresql_where=sa.text("kind = 'message'")),
        sa.Index("ix_inbound_received_at", "received_at", postgresql_using="brin"),
    )


#: Function that handles one event in the transaction that sets its `handled_at`. The function returns the `outcome`.
InboundHandler = Callable[[Inbound], str]


class BroadcastState(StrEnum):
    #: The broadcast waits for its start time, or a worker is adding its deliveries.
    OPEN = "open"
    #: The broadcast is stopped until somebody releases it.
    HELD = "held"
    DONE = "done"


class Broadcast(Base, Created):
    """An announcement to many people. A worker adds one delivery for each recipient."""

    __tablename__ = "broadcasts"
    __personal__ = Personal(of=("except_user_id",), export=Rows(), erase=Detach())

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(comment="forum_thread, article or video")
    about_id: Mapped[int] = mapped_column(comment="which of its kind it tells of; each is announced once")
    preference_tag: Mapped[str | None] = mapped_column(comment="only people with this preference; null: everybody")
    except_user_id: Mapped[int | None] = mapped_column(comment="who wrote it")
    starts_at: Mapped[datetime] = mapped_column(comment="after the random delay")
    state: Mapped[str] = mapped_column(server_default=BroadcastState.OPEN)
    cursor: Mapped[int] = mapped_column(server_default=sa.text("0"), comment="the last user that a page has reached")
    recipients: Mapped[int] = mapped_column(server_default=sa.text("0"))

    __table_args__ = (
        sa.UniqueConstraint("kind", "about_id"),
        sa.Index("ix_broadcasts_open", "starts_at", postgresql_where=sa.text("state = 'open'")),
    )


class BroadcastPace(Base):
    """The limits that all broadcasts share: the rate limit, the pause and the budget. The table has one row."""

    __tablename__ = "broadcast_pace"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    next_at: Mapped[datetime]
    paused: Mapped[bool] = mapped_column(server_default=sa.false())
    pause_reason: Mapped[str | None] = mapped_column(comment="why they paused by themselves")
    resumed_at: Mapped[datetime | None] = mapped_column(comment="what happened before speaks for no pause any more")
    budget: Mapped[int | None] = mapped_column(
        sa.Integer, comment="messages that may leave until this is counted anew, within a minute; null: any number"
    )


class BroadcastDay(Base):
    """The number of broadcasts that a person gets on one day. The day is in the person's time zone."""

    __tablename__ = "broadcast_days"
    __personal__ = Personal(of=("user_id",), export=Rows(), erase=Delete())

    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True, index=True)
    count: Mapped[int] = mapped_column(sa.Integer)


#: Tables, for statements that need no model objects.
deliveries = cast(sa.Table, Delivery.__table__)
inbound = cast(sa.Table, Inbound.__table__)
broadcast_pace = cast(sa.Table, BroadcastPace.__table__)
