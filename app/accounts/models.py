"""Open proofs of phone numbers."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Delete, Personal, Rows
from app.core.database.session import Base, Created


class Method(StrEnum):
    """How a person shows that a number is theirs."""

    #: They write a word to us from it.
    MESSAGE = "message"
    #: They repeat six digits that we sent to it.
    CODE = "code"


class PhoneVerification(Base, Created):
    """A person's open proof of a number, theirs or one that they want; a new request replaces it."""

    __tablename__ = "phone_verifications"
    __personal__ = Personal(of=("user_id",), phones=("phone",), export=Rows(without=("code_hash",)), erase=Delete())

    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    method: Mapped[str] = mapped_column(primary_key=True)
    nomor_hp: Mapped[str] = mapped_column(comment="as sent")
    phone: Mapped[str] = mapped_column(comment="nomor_hp in E.164")
    code_hash: Mapped[str] = mapped_column(unique=True)
    tries: Mapped[int] = mapped_column(sa.Integer, server_default=sa.text("0"))
    expires_at: Mapped[datetime] = mapped_column(index=True)
