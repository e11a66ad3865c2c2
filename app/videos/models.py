"""Table of stored videos."""

from __future__ import annotations

from datetime import datetime
from typing import cast

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.session import Base, Timestamps, trigrams


class Video(Base, Timestamps):
    __tablename__ = "videos"

    id: Mapped[int] = mapped_column(primary_key=True)
    video_id: Mapped[str] = mapped_column(unique=True, comment="the video platform's id")
    title: Mapped[str]
    channel_id: Mapped[str | None]
    channel_title: Mapped[str | None]
    thumbnail: Mapped[str | None] = mapped_column(comment="URL from the video platform")
    duration: Mapped[str | None] = mapped_column(comment="ISO 8601 duration")
    published_at: Mapped[datetime | None]

    __table_args__ = (trigrams("ix_videos_searched", "title", "channel_title"),)


#: Table for statements that need no ORM objects.
videos = cast(sa.Table, Video.__table__)
