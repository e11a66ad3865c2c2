"""Tables of the activities in the client and of their daily sums."""

from __future__ import annotations

from datetime import date, datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Delete, Personal, Rows
from app.core.database.session import Base


class ActivityLog(Base):
    """One activity record. For speed, the table has no foreign keys."""

    __tablename__ = "activity_logs"
    __personal__ = Personal(of=("user_id",), export=Rows(), erase=Delete())

    id: Mapped[int] = mapped_column(primary_key=True)
    stream_id: Mapped[str] = mapped_column(
        unique=True, comment="id in the Redis stream; a record that is read twice stays one row"
    )
    created_at: Mapped[datetime] = mapped_column(index=True, comment="when the service accepted the record")
    log: Mapped[str] = mapped_column(comment="user or admin: the route that received the record")
    user_id: Mapped[int | None] = mapped_column(comment="user of the access token; null without a valid token")
    event_type: Mapped[str | None]
    event_name: Mapped[str | None]
    screen_name: Mapped[str | None]
    activity_description: Mapped[str | None]
    session_id: Mapped[str | None]
    user_ip: Mapped[str | None] = mapped_column(comment="IP address that the client sent")
    remote_ip: Mapped[str | None] = mapped_column(comment="IP address that the service saw")
    user_agent: Mapped[str | None]
    extra: Mapped[dict[str, object]] = mapped_column(JSONB, server_default="{}")

    __table_args__ = (sa.Index("ix_activity_logs_user_id", "user_id", "created_at"),)


class LogDay(Base):
    """Sums of the records of one Jakarta day. The sums stay when old records are deleted."""

    __tablename__ = "log_days"

    day: Mapped[date] = mapped_column(primary_key=True)
    events: Mapped[int] = mapped_column(server_default=sa.text("0"))
    active_users: Mapped[int] = mapped_column(server_default=sa.text("0"))


class LogDayUser(Base):
    """A user who was active on a day, so that `active_users` counts each user once."""

    __tablename__ = "log_day_users"
    __personal__ = Personal(of=("user_id",), export=Rows(), erase=Delete())

    day: Mapped[date] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(primary_key=True)
