"""Table of requested exports."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Custom, Personal, Rows
from app.core.database.session import Base, Created


class ExportState(StrEnum):
    PENDING = "pending"
    READY = "ready"


class DataExport(Base, Created):
    """A requested export of a person's data. A job creates the file, which is kept for a day."""

    __tablename__ = "data_exports"
    __personal__ = Personal(of=("user_id",), export=Rows(without=("file",)), erase=Custom("The file goes too"))

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"))
    day: Mapped[date] = mapped_column(comment="date of the request in Jakarta; a person may request one export a day")
    file: Mapped[str] = mapped_column(comment="name in the storage area of exports, reserved before the file exists")
    attempts: Mapped[int] = mapped_column(sa.SmallInteger, server_default=sa.text("0"))
    next_try_at: Mapped[datetime] = mapped_column(
        comment="when the sweep enqueues the export job if the file is not ready"
    )
    ready_at: Mapped[datetime | None] = mapped_column(comment="when the file became ready for download")

    __table_args__ = (
        sa.UniqueConstraint("user_id", "day"),
        sa.Index("ix_data_exports_waiting", "next_try_at", postgresql_where=sa.text("ready_at IS NULL")),
    )

    @property
    def state(self) -> ExportState:
        return ExportState.PENDING if self.ready_at is None else ExportState.READY
