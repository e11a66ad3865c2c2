"""Tables of the numbers that send messages, and of the numbers that receive messages."""

from __future__ import annotations

from datetime import datetime
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
    last_inbound_at: Mapped[datetime | None] = mapped_column(comment="when the owner last wrote to the service")
    refused_at: Mapped[datetime | None] = mapped_column(
        comment="since when the provider reports the number as unreachable; null: not reported, or reached since"
    )
    wrong_at: Mapped[datetime | None] = mapped_column(
        comment="when its owner replied that the number does not belong to the addressed person"
    )
    used_at: Mapped[datetime | None] = mapped_column(comment="when its owner last replied or received a message")


class SenderState(StrEnum):
    UP = "up"
    #: Messages are sent, but the provider refuses some of them: to new recipients, or with a paused template.
    DEGRADED = "degraded"
    #: No messages are sent. Due messages wait. The wait does not count as an attempt.
    DOWN = "down"


class Sender(Base):
    """One of our own phone numbers that send messages, and the state of this number according to the provider."""

    __tablename__ = "senders"

    provider: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[str] = mapped_column(
        primary_key=True,
        comment="phone number id of WhatsApp, or MESSAGING_NUMBER of Fonnte; empty: the provider did not name it",
    )
    state: Mapped[str] = mapped_column(server_default=SenderState.UP)
    reason: Mapped[str | None] = mapped_column(comment="the provider's explanation if the state is not up")
    since: Mapped[datetime] = mapped_column(server_default=sa.func.now(), comment="when the present state began")
    quality: Mapped[str | None] = mapped_column(comment="WhatsApp's quality rating: green, yellow or red")
    limit_24h: Mapped[int | None] = mapped_column(
        sa.Integer, comment="different recipients allowed in 24 hours; null: unlimited or unknown"
    )
    quota: Mapped[int | None] = mapped_column(sa.Integer, comment="prepaid messages that are left")
    checked_at: Mapped[datetime | None] = mapped_column(comment="when the provider last reported the state")


#: Tables, for statements that need no model objects.
phone_numbers = cast(sa.Table, PhoneNumber.__table__)
senders = cast(sa.Table, Sender.__table__)
