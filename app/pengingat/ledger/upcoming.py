"""Planning of future occurrences: insert the occurrences into the ledger, and their messages into the outbox.

An occurrence is one due time of a reminder. The ledger is the table `occurrences`. The caller commits the transaction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.core.database.session import db
from app.notifications import outbox
from app.notifications.models import About, Channel
from app.pengingat.ledger import rows, tokens
from app.pengingat.models import LATE, Occurrence, OccurrenceState, Pengingat
from app.pengingat.timetable.schedule import DAY, NEVER, Due
from app.pengingat.types.registry import TYPES

#: Time ahead for which occurrences are planned.
HORIZON = timedelta(hours=60)

#: Suffix of the dedupe key of a repeated message.
AGAIN = ":again"

KIND = "reminder"


def about(pengingat_id: int) -> About:
    """Return the key by which the outbox finds all messages of a reminder, including its stock notices."""
    return About("reminder", pengingat_id)


@dataclass(frozen=True)
class Extension:
    """A reminder whose occurrences after the moment `after` must be planned."""

    pengingat: Pengingat
    after: datetime


def plan(extensions: Sequence[Extension], now: datetime) -> None:
    """Insert the occurrences of the next 60 hours into the ledger, and their messages into the outbox.

    Answered occurrences get no message. The caller must lock the reminders first, so that nobody changes them at the
    same time.
    """
    planned = {
        (extension.pengingat.id, due.at, due.slot): (extension, due)
        for extension in extensions
        for due in _dues(extension.pengingat, extension.after, now)
    }
    recorded = rows.record([entry(extension.pengingat, due) for extension, due in planned.values()])
    drafts: list[outbox.NewDelivery] = []
    for row in recorded:
        if row.state == OccurrenceState.PENDING and row.reminder_id is not None:
            extension, due = planned[row.reminder_id, row.due_at, row.slot]
            drafts += deliveries(extension.pengingat, due, row)
    outbox.send(*drafts)


def follow_edit(pengingat: Pengingat, now: datetime) -> None:
    """Void the coming times that the changed schedule lacks. Give rows of unchanged times the slots of the schedule.

    The slot of a dose or a session is only its place in a list. Without this, a due dose would get the amount of
    another dose, and a dose that was taken early would get a second row.
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
        link_hash=tokens.hash_of(tokens.link_token_of(tokens.push_token(pengingat.user_id, due.at))),
    )


def due_of(row: Occurrence) -> Due:
    """Convert a row to a `Due`. For a notice before an appointment, `Due.occurrence` is the time of the appointment."""
    return Due(row.due_at, row.due_at + TYPES[row.tipe].lead(row.slot), row.slot)


def deliveries(pengingat: Pengingat, due: Due, row: Occurrence) -> Iterator[outbox.NewDelivery]:
    """Yield the messages of an occurrence, and the repeats of these messages.

    The first messages are due at the due time of the occurrence, or at the end of its snooze.
    """
    at = row.snoozed_until or due.at
    part = f":snooze{row.snoozes}" if row.snoozed_until else ""
    yield from _told(pengingat, due, row.id, at, part)
    if again := _again_at(pengingat, due, at):
        yield from _told(pengingat, due, row.id, again, f"{part}{AGAIN}")


def _told(pengingat: Pengingat, due: Due, occurrence_id: int, at: datetime, part: str) -> Iterator[outbox.NewDelivery]:
    for channel in (Channel.MESSAGING, Channel.PUSH_FAN_OUT):
        yield outbox.NewDelivery(
            kind=KIND,
            channel=channel,
            dedupe_key=f"pengingat:{pengingat.id}:{due.occurrence:%Y%m%dT%H%M%SZ}:{due.slot}{part}:{channel}",
            payload={"tipe": pengingat.tipe, **({"again": True} if part.endswith(AGAIN) else {})},
            due_at=at,
            expires_at=at + LATE,
            user_id=pengingat.user_id,
            occurrence_id=occurrence_id,
            about=about(pengingat.id),
        )


def _again_at(pengingat: Pengingat, due: Due, at: datetime) -> datetime | None:
    """Return when the message of an unanswered dose is repeated, or None if it is not repeated.

    The person sets the delay. A message is not repeated after the next dose. It is repeated at night only if the dose
    itself is at night.
    """
    after = pengingat.type.again_after(pengingat.details)
    if after is None:
        return None
    again, zone = at + after, pengingat.zone
    if is_night(again.astimezone(zone)) and not is_night(due.at.astimezone(zone)):
        return None
    following = pengingat.schedule.next_occurrence(due.at)
    return again if following is None or again < following else None


def is_night(local: datetime) -> bool:
    """Return whether a local time is between 22.00 and 05.00."""
    return local.hour >= 22 or local.hour < 5
