"""Tables of the outbox, of events from messaging providers, and of broadcasts.

The outbox stores each message and each push as one row before it is sent. Such a row is called a delivery.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, cast

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import SECRET, Delete, Detach, Personal, Rows
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
    #: One worker has claimed the delivery and may send it until `next_try_at`, when the lease of the claim ends. If the
    #: row is still in this state after that time, the worker has died, and the next drain puts the row back.
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
    """The subject of a delivery or a broadcast, such as one article."""

    type: str
    id: int


class Delivery(Base, Created):
    """One message or push to one target."""

    __tablename__ = "deliveries"
    __personal__ = Personal(
        of=("user_id",),
        phones=("target",),
        export=Rows(without=("payload", "sealed", "link_hash", "claim_token", "last_error", "receipt_code")),
        erase=Delete(),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    dedupe_key: Mapped[str] = mapped_column(
        unique=True, comment="unique for one effect, so that a repeated insert adds nothing"
    )
    queue: Mapped[str] = mapped_column(comment="urgent or bulk: the RQ queue whose worker sends it")
    channel: Mapped[str]
    kind: Mapped[str] = mapped_column(comment="kind of message: password_reset, reminder, broadcast, ...")
    user_id: Mapped[int | None] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"))
    target: Mapped[str | None] = mapped_column(
        comment="E.164 number or push subscription id; null: chosen when it is sent"
    )
    payload: Mapped[dict[str, object]] = mapped_column(
        JSONB, server_default="{}", comment="small values for the template; never a person's own text", info=SECRET
    )
    sealed: Mapped[str | None] = mapped_column(
        comment="encrypted text that cannot be rendered again, such as a reset link; deleted with the final state",
        info=SECRET,
    )
    said: Mapped[list[int] | None] = mapped_column(
        ARRAY(sa.BigInteger), comment="ids of the occurrences that the last call named, in the order of their numbers"
    )
    link_hash: Mapped[str | None] = mapped_column(
        comment="SHA-256 of the token in its link or in its buttons", info=SECRET
    )
    due_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(comment="a delivery that is not sent by this time becomes missed")
    state: Mapped[str] = mapped_column(server_default=DeliveryState.PENDING)
    attempts: Mapped[int] = mapped_column(sa.Integer, server_default=sa.text("0"))
    worker_crashes: Mapped[int] = mapped_column(
        "deaths",
        sa.Integer,
        key="worker_crashes",
        server_default=sa.text("0"),
        comment="attempts whose worker stopped before it stored an outcome",
    )
    unconfirmed_calls: Mapped[int] = mapped_column(
        "unknowns",
        sa.Integer,
        key="unconfirmed_calls",
        server_default=sa.text("0"),
        comment="provider calls with an unknown outcome, including a call in progress",
    )
    next_try_at: Mapped[datetime] = mapped_column(
        comment="no worker claims the delivery before this time; for a claimed delivery, the end of the lease"
    )
    claim_token: Mapped[uuid.UUID | None]
    settled_at: Mapped[datetime | None]
    provider_ref: Mapped[str | None]
    last_error: Mapped[str | None]
    receipt: Mapped[str | None] = mapped_column(
        comment="accepted, sent, failed, delivered or read: the most advanced status from the provider"
    )
    receipt_at: Mapped[datetime | None] = mapped_column(comment="time of the receipt, from the provider's clock")
    receipt_code: Mapped[str | None] = mapped_column(comment="the provider's error code of a failed receipt")

    __table_args__ = (
        # The scheduler and the workers query only unsent rows. This index contains no other rows, so it stays small.
        sa.Index(
            "ix_deliveries_open",
            "queue",
            "channel",
            "next_try_at",
            postgresql_where=sa.text("state IN ('pending', 'claimed')"),
        ),
        # Messages to a number without an account. The export and the erasure of personal data find them by number.
        sa.Index("ix_deliveries_target", "target", postgresql_where=sa.text("user_id IS NULL")),
        sa.Index("ix_deliveries_created_at", "created_at"),
        # For queries of recently sent or failed deliveries.
        sa.Index("ix_deliveries_settled", "queue", "settled_at", postgresql_where=sa.text("settled_at IS NOT NULL")),
        sa.Index("ix_deliveries_user_id", "user_id", "due_at"),
        sa.Index("ix_deliveries_link_hash", "link_hash", postgresql_where=sa.text("link_hash IS NOT NULL")),
        # For receipts, which identify a message by the provider's reference.
        sa.Index("ix_deliveries_provider_ref", "provider_ref", postgresql_where=sa.text("provider_ref IS NOT NULL")),
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
    event_key: Mapped[str] = mapped_column(
        unique=True, comment="unique for one event, so that a repeated webhook call adds nothing"
    )
    kind: Mapped[str]
    phone: Mapped[str | None] = mapped_column(
        comment="E.164 number of the sender, or of the recipient whom a receipt is about"
    )
    text: Mapped[str | None] = mapped_column(comment="text of the person's message; deleted after 30 days", info=SECRET)
    ref: Mapped[str | None] = mapped_column(comment="the provider's id of the message that the event is about")
    payload: Mapped[dict[str, object]] = mapped_column(
        JSONB, server_default="{}", comment="other values for the handler; never a person's own text", info=SECRET
    )
    received_at: Mapped[datetime] = mapped_column(server_default=sa.func.now())
    handled_at: Mapped[datetime | None]
    outcome: Mapped[str | None] = mapped_column(comment="what the handler did; 'answered:...' if the service replied")

    __table_args__ = (
        sa.CheckConstraint("length(text) <= 1000", name="text_is_short"),
        sa.Index("ix_inbound_open", "kind", "id", postgresql_where=sa.text("handled_at IS NULL")),
        # For queries of the time of a person's last message, and of the number of our answers to the person.
        sa.Index("ix_inbound_phone", "phone", "received_at", postgresql_where=sa.text("kind = 'message'")),
        sa.Index("ix_inbound_received_at", "received_at", postgresql_using="brin"),
        # For receipts of Fonnte that have only the id of a state, see `delivery.receipts`.
        sa.Index(
            "ix_inbound_state_ref",
            sa.text("(payload ->> 'state_ref')"),
            postgresql_where=sa.text("payload ->> 'state_ref' IS NOT NULL AND ref IS NOT NULL"),
        ),
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
    kind: Mapped[str] = mapped_column(comment="type of the object in about_id: forum_thread, article or video")
    about_id: Mapped[int] = mapped_column(comment="the announced object; each object is announced once")
    preference_tag: Mapped[str | None] = mapped_column(
        comment="only people with this preference tag receive it; null: everybody"
    )
    except_user_id: Mapped[int | None] = mapped_column(comment="the author, who does not receive it")
    starts_at: Mapped[datetime] = mapped_column(comment="start of the broadcast, including the random delay")
    state: Mapped[str] = mapped_column(server_default=BroadcastState.OPEN)
    cursor: Mapped[int] = mapped_column(
        server_default=sa.text("0"),
        comment="id of the last user of the latest page; the next page starts after this user",
    )
    recipients: Mapped[int] = mapped_column(server_default=sa.text("0"))

    __table_args__ = (
        sa.UniqueConstraint("kind", "about_id"),
        sa.Index("ix_broadcasts_open", "starts_at", postgresql_where=sa.text("state = 'open'")),
    )


class BroadcastPause(Base, Created):
    """The pause of all broadcasts. The table has one row while they are paused, and else none."""

    __tablename__ = "broadcast_pauses"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)


#: Tables, for statements that need no model objects.
deliveries = cast(sa.Table, Delivery.__table__)
inbound = cast(sa.Table, Inbound.__table__)
