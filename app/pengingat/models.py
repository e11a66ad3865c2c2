"""Tables of reminders and of their occurrences.

An occurrence is one due time of a reminder. The table `occurrences` is called the ledger. The messages themselves are
rows of the outbox, in `app.notifications`.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import cast
from zoneinfo import ZoneInfo

import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Delete, Personal, Rows
from app.core.database.session import Base, Created, Timestamps
from app.core.lib import local_time
from app.pengingat.timetable.schedule import Schedule
from app.pengingat.types import base
from app.pengingat.types.base import Details, ReminderType
from app.pengingat.types.registry import TYPES

#: Time after the due time at which an unanswered occurrence becomes missed, and its messages expire.
LATE = timedelta(minutes=60)


class OccurrenceState(StrEnum):
    """State of an occurrence. Only an answer makes it done or skipped."""

    PENDING = "pending"
    DONE = "done"
    SKIPPED = "skipped"
    #: The person did not answer within 60 minutes (`LATE`) after the due time, or after the end of a snooze.
    MISSED = "missed"
    #: The occurrence was cancelled before an answer, for example because the reminder was edited or deleted.
    VOID = "void"


_ENDED_BY_PUT = [each.name for each in TYPES.values() if not each.is_done_by_answers]
_now = sa.bindparam(
    "present",
    callable_=lambda: local_time.now(),  # noqa: PLW0108  # tests replace the function
    type_=sa.DateTime(timezone=True),
)


def _is_last_time_done(reminder_id: Mapped[int]) -> sa.ColumnElement[bool]:
    """Return whether all rows of the reminder's last due time are done, or before the first one those of the next."""
    table = sa.table("occurrences", sa.column("reminder_id"), sa.column("due_at"), sa.column("state"))
    row, last, following = table.alias("present_row"), table.alias("last_row"), table.alias("next_row")

    def moment(of: sa.FromClause, *which: sa.ColumnElement[bool], first: bool) -> sa.ScalarSelect[datetime]:
        found = sa.func.min(of.c.due_at) if first else sa.func.max(of.c.due_at)
        return sa.select(found).where(*is_of(of), *which).correlate_except(of).scalar_subquery()

    def is_of(of: sa.FromClause) -> tuple[sa.ColumnElement[bool], ...]:
        return of.c.reminder_id == reminder_id, of.c.state != OccurrenceState.VOID.value

    last_at = moment(last, last.c.due_at <= _now, first=False)
    next_at = moment(following, following.c.due_at > _now, first=True)
    is_done = sa.func.bool_and(row.c.state == OccurrenceState.DONE.value)
    done = sa.select(is_done).where(*is_of(row), row.c.due_at == sa.func.coalesce(last_at, next_at))
    return sa.func.coalesce(done.scalar_subquery(), sa.false())


class Pengingat(Base, Timestamps):
    __tablename__ = "reminders"
    __personal__ = Personal(of=("user_id",), export=Rows(), erase=Delete())

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"))
    tipe: Mapped[str] = mapped_column()
    judul: Mapped[str]
    first_at: Mapped[datetime] = mapped_column(
        "waktu", key="first_at", comment="start as the client sent it; for obat the API shows the next dose instead"
    )
    timezone: Mapped[str] = mapped_column(comment="IANA name of the time zone")
    details: Mapped[Details] = mapped_column(
        JSONB, comment="as the client sent them, with a wall time next to each jam"
    )
    active_from: Mapped[datetime] = mapped_column(
        comment="when the schedule was last changed; occurrences start after this time"
    )
    planned_until: Mapped[datetime] = mapped_column(
        index=True, comment="occurrences and deliveries are stored up to this time"
    )
    is_finished: Mapped[bool] = mapped_column(
        server_default=sa.false(), comment="true if PUT `is_done` ended a reminder that does not repeat"
    )

    stock_told: Mapped[bool] = mapped_column(
        server_default=sa.false(),
        comment="true if a notice was created because the medicine runs out, and the stock was not enough since",
    )

    __table_args__ = (sa.Index("ix_reminders_user_id", "user_id", "id"),)

    #: Whether the last due time is done, or before the first due time the next one. Of some types, only PUT sets it.
    is_done: Mapped[bool] = orm.column_property(
        sa.or_(is_finished, sa.and_(tipe.not_in(_ENDED_BY_PUT), _is_last_time_done(id))),  # noqa: A003  # the column
        deferred=True,
        expire_on_flush=False,  # a service expires it after an answer
    )

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    @property
    def type(self) -> ReminderType:
        return TYPES[self.tipe]

    @property
    def shown_details(self) -> Details:
        """Return the details as the client sent them, without the stored wall times."""
        return base.shown(self.details)

    @property
    def schedule(self) -> Schedule:
        return self.type.schedule(self.details, self.first_at, self.zone)

    @property
    def open_schedule(self) -> Schedule | None:
        """Return the schedule, or None if the reminder is finished and sends no more messages."""
        return None if self.is_finished else self.schedule

    @property
    def next_due_at(self) -> datetime:
        """Return the next due time, if the type shows it and the schedule has one. Otherwise return `first_at`."""
        if self.type.shows_next_time:
            return self.schedule.next_occurrence(local_time.now()) or self.first_at
        return self.first_at


class AnsweredVia(StrEnum):
    APP = "app"
    LINK = "link"
    MESSAGE = "message"
    PUSH = "push"
    CAREGIVER = "caregiver"


class Occurrence(Base, Created):
    """One due time of a reminder and its outcome. The row stays when the reminder is deleted."""

    __tablename__ = "occurrences"
    __personal__ = Personal(of=("user_id",), export=Rows(), erase=Delete())

    id: Mapped[int] = mapped_column(primary_key=True)
    reminder_id: Mapped[int | None] = mapped_column(sa.ForeignKey("reminders.id", ondelete="SET NULL"))
    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"))
    tipe: Mapped[str]
    judul: Mapped[str]
    slot: Mapped[str] = mapped_column(comment="the dose, meal, session or lead time of the schedule")
    due_at: Mapped[datetime] = mapped_column(comment="when the reminder is sent; for a visit, when the notice is sent")
    day: Mapped[date] = mapped_column(comment="date of due_at in the reminder's time zone")
    timezone: Mapped[str | None] = mapped_column(
        comment="time zone of the date in day; null: stored before this column existed"
    )
    state: Mapped[str] = mapped_column(server_default=OccurrenceState.PENDING)
    answered_at: Mapped[datetime | None]
    answered_via: Mapped[str | None]
    recorded_at: Mapped[datetime | None] = mapped_column(
        comment="when the latest answer came, after answered_at if it was given offline; null: at answered_at"
    )
    undone_at: Mapped[datetime | None] = mapped_column(
        comment="when the latest answer was undone; answers given before this time are ignored"
    )
    snoozed_until: Mapped[datetime | None]
    snoozes: Mapped[int] = mapped_column(sa.SmallInteger, server_default=sa.text("0"))
    undelivered: Mapped[bool] = mapped_column(
        server_default=sa.false(),
        comment="true if no channel delivered the reminder; set when the occurrence becomes missed",
    )
    stock_deducted: Mapped[float | None] = mapped_column(
        "taken", sa.Double, key="stock_deducted", comment="amount taken out of the stock for a dose that is done"
    )

    __table_args__ = (
        sa.UniqueConstraint("reminder_id", "due_at", "slot"),
        sa.Index("ix_occurrences_user_id", "user_id", "due_at", "id"),
        # Index for the job that marks missed occurrences. The job reads only unanswered rows.
        sa.Index("ix_occurrences_open", "due_at", postgresql_where=sa.text("state = 'pending'")),
        # BRIN, because rows are inserted roughly in the order of `due_at`.
        sa.Index("ix_occurrences_due_at", "due_at", postgresql_using="brin"),
    )

    #: The reminder's next due time in the ledger, if the query reads it.
    next_at: Mapped[datetime | None] = orm.query_expression()

    @property
    def over_at(self) -> datetime:
        """Return when the occurrence becomes missed without an answer."""
        return max(self.due_at, self.snoozed_until or self.due_at) + LATE

    @property
    def late(self) -> bool:
        """Return whether the person marked the occurrence as done only after it had become missed."""
        return self.state == OccurrenceState.DONE and self.answered_at is not None and self.answered_at >= self.over_at


#: Tables for SQL statements that do not use the ORM classes.
reminders = cast(sa.Table, Pengingat.__table__)
occurrences = cast(sa.Table, Occurrence.__table__)
