"""Tables of the numbers that send messages, and of the numbers that receive them."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from typing import cast

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Delete, Personal, Rows
from app.core.database.session import Base


class PhoneNumber(Base):
    """What is known about the phone number of a recipient. A number without any such information has no row."""

    __tablename__ = "phone_numbers"
    __personal__ = Personal(phones=("phone",), export=Rows(), erase=Delete())

    phone: Mapped[str] = mapped_column(primary_key=True, comment="E.164")
    last_inbound_at: Mapped[datetime | None] = mapped_column(comment="when its owner last wrote to us")
    refused_at: Mapped[datetime | None] = mapped_column(
        comment="since when the provider has been saying that nobody is there; null: it does not, or somebody was since"
    )
    probed_at: Mapped[datetime | None] = mapped_column(
        comment="when one message was tried on a number that counts as invalid; it is tried once"
    )
    wrong_at: Mapped[datetime | None] = mapped_column(
        comment="when somebody there said that the number is not the person's"
    )
    wrong_codes: Mapped[int] = mapped_column(
        sa.SmallInteger, server_default=sa.text("0"), comment="codes sent to the number since wrong_at"
    )
    stopped_at: Mapped[datetime | None] = mapped_column(
        comment="when the number ended reminders while its person had not proven it; null: MULAI or a proof came since"
    )
    used_at: Mapped[datetime | None] = mapped_column(
        comment="when its owner last answered or received anything but a proof, to the day"
    )


class SenderState(StrEnum):
    UP = "up"
    #: Messages are sent, but the provider accepts no new recipients.
    DEGRADED = "degraded"
    #: No messages are sent. Due messages wait, and this does not count as an attempt.
    DOWN = "down"


class Sender(Base):
    """One of our own phone numbers, which send messages, and its state according to the provider."""

    __tablename__ = "senders"

    provider: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[str] = mapped_column(
        primary_key=True, comment="of WhatsApp the phone number id, of Fonnte MESSAGING_NUMBER; empty: nobody told"
    )
    state: Mapped[str] = mapped_column(server_default=SenderState.UP)
    reason: Mapped[str | None] = mapped_column(comment="why it is not up, in the provider's words")
    since: Mapped[datetime] = mapped_column(server_default=sa.func.now(), comment="in this state")
    quality: Mapped[str | None] = mapped_column(comment="green, yellow or red: what recipients think of it")
    limit_24h: Mapped[int | None] = mapped_column(
        sa.Integer, comment="different people that may be written to in 24 hours; null: unlimited or unknown"
    )
    quota: Mapped[int | None] = mapped_column(sa.Integer, comment="messages that are paid for")
    checked_at: Mapped[datetime | None] = mapped_column(comment="when the provider last told")
    needs_trial: Mapped[bool] = mapped_column(
        server_default=sa.false(), comment="of one that is down: only a message that is taken shows that it is over"
    )
    trial_at: Mapped[datetime | None] = mapped_column(
        comment="of one that is down: when one message may try whether it is still"
    )
    held_since: Mapped[datetime | None] = mapped_column(
        comment="of a phone that is disconnected: from when on the provider may hold what it accepted"
    )
    warmup_days: Mapped[int | None] = mapped_column(
        sa.SmallInteger, comment="good days of a number that is new; null: it is not"
    )
    warmup_on: Mapped[date | None] = mapped_column(comment="the last day on which it wrote to new people")
    new_people: Mapped[int] = mapped_column(
        sa.Integer, server_default=sa.text("0"), comment="to how many of them on that day"
    )


#: Tables, for statements that need no model objects.
phone_numbers = cast(sa.Table, PhoneNumber.__table__)
senders = cast(sa.Table, Sender.__table__)
