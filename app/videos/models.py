"""Tables of stored videos and of videos that users saved."""

from __future__ import annotations

from datetime import datetime
from typing import cast

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Delete, Personal, Rows
from app.core.database.session import Base, Timestamps, trigrams


class Video(Base, Timestamps):
    __tablename__ = "videos"

    id: Mapped[int] = mapped_column(primary_key=True)
    video_id: Mapped[str] = mapped_column(unique=True, comment="the video platform's id")
    title: Mapped[str]
    channel_id: Mapped[str | None] = mapped_column(index=True)
    channel_title: Mapped[str | None]
    thumbnail: Mapped[str | None] = mapped_column(comment="URL from the video platform")
    duration: Mapped[str | None] = mapped_column(comment="ISO 8601 duration")
    published_at: Mapped[datetime | None]

    __table_args__ = (trigrams("ix_videos_searched", "title", "channel_title"),)


class SavedVideo(Base):
    """A video that a user saved, live or stored.

    When the user removes the video, the row stays with `saved` false, so that simultaneous requests lock the same row.
    """

    __tablename__ = "saved_videos"
    __personal__ = Personal(of=("user_id",), export=Rows(), erase=Delete())

    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    video_id: Mapped[str] = mapped_column(primary_key=True, comment="the video platform's id")
    title: Mapped[str]
    channel_title: Mapped[str | None]
    thumbnail: Mapped[str | None] = mapped_column(comment="URL from the video platform")
    saved: Mapped[bool]
    saved_at: Mapped[datetime] = mapped_column(server_default=sa.func.clock_timestamp())

    __table_args__ = (sa.Index("ix_saved_videos_user_id_saved_at", "user_id", "saved_at"),)


#: Table for statements that need no ORM objects.
videos = cast(sa.Table, Video.__table__)
