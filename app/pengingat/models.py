"""Reminders. What they send are rows of the outbox."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.session import Base, Timestamps
from app.core.lib import clock
from app.pengingat.schedule import Plan, Schedule

#: The fields of one type, see `schemas`, and whatever else a client keeps beside them: any JSON.
Details = dict[str, Any]


class Tipe(StrEnum):
    OBAT = "obat"
    MAKAN = "makan"
    TERAPI = "terapi"
    KONTROL = "kontrol"


class Pengingat(Base, Timestamps):
    __tablename__ = "reminders"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"))
    tipe: Mapped[str]
    judul: Mapped[str]
    start: Mapped[datetime] = mapped_column("waktu", comment="as sent; what obat shows is the next dose")
    timezone: Mapped[str] = mapped_column(comment="IANA")
    details: Mapped[Details] = mapped_column(JSONB)
    plan: Mapped[Plan] = mapped_column(JSONB, comment="the schedule in wall times, see app.pengingat.schedule")
    active_from: Mapped[datetime] = mapped_column(
        comment="when the schedule was last set; nothing before is an occurrence of it"
    )
    planned_until: Mapped[datetime] = mapped_column(index=True, comment="up to here the occurrences are in the outbox")
    done_until: Mapped[datetime | None] = mapped_column(
        comment="the occurrence after the one that is done; from then on it is not done any more"
    )

    __table_args__ = (sa.Index("ix_reminders_user_id", "user_id", "id"),)

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    @property
    def schedule(self) -> Schedule:
        return Schedule.from_json(self.plan, self.zone)

    @property
    def waktu(self) -> datetime:
        """As sent; of a medicine, the next dose."""
        if self.tipe == Tipe.OBAT:
            return self.schedule.next_occurrence(clock.now()) or self.start
        return self.start

    @property
    def next_at(self) -> datetime | None:
        """The next occurrence still to come, the one that is done already left out; None when there is none."""
        if self.is_done:
            return self.done_until if self.schedule.repeats else None
        return self.schedule.next_occurrence(clock.now())

    @property
    def is_done(self) -> bool:
        """Whether the current occurrence is done."""
        return self.done_until is not None and self.done_until > clock.now()

    @property
    def is_past(self) -> bool:
        """Whether it is of one moment, and that is over."""
        once = self.schedule.once
        return once is not None and once <= clock.now()
