"""Planning of future occurrences: insert the occurrences into the ledger, and their bells into the outbox.

An occurrence is one due time of a reminder. The ledger is the table `occurrences`. The caller commits the transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.core.database.session import db
from app.pengingat.ledger import bells, rows
from app.pengingat.models import Occurrence, OccurrenceState, Pengingat
from app.pengingat.timetable.schedule import DAY, NEVER, Due
from app.pengingat.types.registry import TYPES

#: Time ahead for which occurrences are planned.
HORIZON = timedelta(hours=60)


@dataclass(frozen=True)
class Extension:
    """A reminder whose occurrences after the moment `after` must be planned."""

    pengingat: Pengingat
    after: datetime


def plan(extensions: Sequence[Extension], now: datetime) -> None:
    """Insert the occurrences of the next 60 hours into the ledger, and their bells into the outbox.

    The caller must lock the reminders first, so that nobody changes them at the same time.
    """
    planned = [
        entry(extension.pengingat, due)
        for extension in extensions
        for due in _dues(extension.pengingat, extension.after, now)
    ]
    reminders = {extension.pengingat.id: extension.pengingat for extension in extensions}
    open_rows = [row for row in rows.record(planned) if row.state == OccurrenceState.PENDING]
    bells.ring((bell for row in open_rows for bell in bells.of_row(reminders[row.reminder_id or 0], row)), now)


def replan(pengingat: Pengingat, now: datetime) -> None:
    """Follow an edit: void the coming times that the schedule lacks, and write those that it has in addition.

    The slot of a dose or a session is only its place in a list. So a row of an unchanged time gets the slot of the
    schedule. Without this, a due dose would get the amount of another dose, and a dose that was taken early would get a
    second row. What is due now stays, and may get another second message.
    """
    since = now - DAY
    found = rows.lock_since(pengingat.id, since)
    until = max((row.due_at for row in found), default=now)
    planned = {(due.at, due.slot) for due in pengingat.schedule.dues(since, until)}
    free = sorted(planned - {(row.due_at, row.slot) for row in found})
    left = [row for row in found if (row.due_at, row.slot) not in planned]
    if pengingat.type.has_numbered_slots:
        for row in sorted(left, key=lambda row: row.state == OccurrenceState.VOID):
            if row.tipe == pengingat.tipe and (place := next((each for each in free if each[0] == row.due_at), None)):
                free.remove(place)
                left.remove(row)
                row.slot = place[1]
    for row in left:
        if row.due_at > now and row.state == OccurrenceState.PENDING:
            row.state = OccurrenceState.VOID
    db.session.flush()
    plan([Extension(pengingat, now)], now)
    due = [row for row in found if row.due_at <= now and row.state == OccurrenceState.PENDING]
    bells.ring((bell for row in due for bell in bells.of_row(pengingat, row) if bell.moment > now), now)


def _dues(pengingat: Pengingat, after: datetime, now: datetime) -> list[Due]:
    """Return the due times after `after`, up to 60 hours from now. Set `planned_until` of the reminder."""
    schedule, until = pengingat.schedule, now + HORIZON
    pengingat.planned_until = NEVER if pengingat.is_finished or schedule.is_over(until) else until
    return [] if pengingat.is_finished else schedule.dues(after, until)


def entry(pengingat: Pengingat, due: Due) -> rows.NewOccurrence:
    return rows.NewOccurrence(
        reminder_id=pengingat.id,
        user_id=pengingat.user_id,
        tipe=pengingat.tipe,
        judul=pengingat.judul,
        slot=due.slot,
        due_at=due.at,
        day=due.at.astimezone(pengingat.zone).date(),
        timezone=pengingat.timezone,
    )


def due_of(row: Occurrence) -> Due:
    """Convert a row to a `Due`. For a notice before an appointment, `Due.occurrence` is the time of the appointment."""
    return Due(row.due_at, row.due_at + TYPES[row.tipe].lead(row.slot), row.slot)
