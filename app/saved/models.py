"""Table of the articles and videos that users saved."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Delete, Personal, Rows
from app.core.database.session import Base


class Kind(StrEnum):
    ARTICLE = "article"
    VIDEO = "video"


class Saved(Base):
    """An article or video that a user saved, live or stored.

    When the user removes it, the row stays with `saved` false, so that simultaneous requests lock the same row.
    """

    __tablename__ = "saved"
    __personal__ = Personal(of=("user_id",), export=Rows(), erase=Delete())

    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True, comment="article or video")
    item: Mapped[str] = mapped_column(
        primary_key=True, comment="canonical address of an article, or the video platform's id of a video"
    )
    title: Mapped[str]
    channel_title: Mapped[str | None]
    thumbnail: Mapped[str | None] = mapped_column(comment="address on a host of the video platform")
    saved: Mapped[bool]
    saved_at: Mapped[datetime] = mapped_column(server_default=sa.func.clock_timestamp())

    __table_args__ = (sa.Index("ix_saved_user_id_saved_at", "user_id", "kind", "saved_at"),)
