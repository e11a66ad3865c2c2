"""What is known of the numbers that messages go to."""

from __future__ import annotations

from datetime import datetime
from typing import cast

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Delete, Personal, Rows
from app.core.database.session import Base


class PhoneNumber(Base):
    """What a messaging provider has shown of one number. It has a row from the first such thing on."""

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
    silent_at: Mapped[datetime | None] = mapped_column(
        comment="since when messages have been accepted and none arrived, while those of others did"
    )


#: For statements that have no use for objects.
phone_numbers = cast(sa.Table, PhoneNumber.__table__)
