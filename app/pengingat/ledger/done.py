"""Rules for `is_done` of a reminder, and for the period in which the reminder counts as done.

An occurrence is one due time of a reminder. All functions are pure and use no database.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from app.pengingat.ledger import upcoming
from app.pengingat.ledger.statements import Row
from app.pengingat.models import OccurrenceState, Pengingat
from app.pengingat.timetable.schedule import AHEAD, MARGIN, NEVER, WEEK, Due


def current(pengingat: Pengingat, rows: Sequence[Row], now: datetime) -> list[Due]:
    """Return the due times of the current occurrence. There are several if two doses or meals have the same time.

    `rows` has the last ledger rows of the reminder, newest first. They contain the occurrences before the last edit.
    """
    coming = _scheduled(pengingat, now)
    if coming and coming[-1].at <= now:
        return coming
    last = next((row for row in rows if row.reminder_id == pengingat.id and _fell_due(row, now)), None)
    if last is None or last.due_at > pengingat.active_from:
        return coming
    if coming and coming[-1].at - now < min(AHEAD, now - last.due_at):
        return coming
    return [upcoming.due_of(row) for row in rows if row.reminder_id == pengingat.id and row.due_at == last.due_at]


def _fell_due(row: Row, now: datetime) -> bool:
    return row.due_at <= now and row.state != OccurrenceState.VOID


def _scheduled(pengingat: Pengingat, now: datetime) -> list[Due]:
    """Return the due times of the current occurrence of the schedule, which begins with the last edit."""
    schedule = pengingat.schedule
    if not schedule.repeats:
        notices = schedule.dues(pengingat.active_from, NEVER)
        due_now = [due for due in notices if due.at <= now + AHEAD]
        return due_now[-1:] or notices[:1]
    moment = schedule.current_occurrence(pengingat.active_from, now)
    return schedule.dues(moment - timedelta(seconds=1), moment) if moment else []


def done_occurrence(pengingat: Pengingat, rows: Sequence[Row], now: datetime) -> list[Due]:
    """Return the due times of the occurrence that counts as done now.

    This is usually the current occurrence. In the last hour before the next due time, `current` already returns the
    next occurrence. If the next occurrence is not done and the previous occurrence is done, return the previous
    occurrence.
    """
    until, dues = pengingat.done_until, current(pengingat, rows, now)
    if until is None or not now < until < NEVER or (dues and dues[-1].occurrence < until):
        return dues
    earlier = pengingat.schedule.dues(max(pengingat.active_from, until - WEEK - MARGIN), until - timedelta(seconds=1))
    return [due for due in earlier if due.at == earlier[-1].at]


def follow(pengingat: Pengingat, rows: Sequence[Row], changed: Row, now: datetime) -> None:
    """Update `is_done` after an answer to the ledger row `changed`. `rows` has the rows around `changed`.

    An answer to an occurrence before the current one has no effect on `is_done`. A doctor's visit (`kontrol`) becomes
    done only by a PUT request with `is_done`.
    """
    dues = current(pengingat, rows, now)
    if not pengingat.type.is_done_by_answers or not dues or changed.due_at < dues[-1].at:
        return
    moment, is_current = dues[-1].occurrence, changed.due_at == dues[-1].at
    is_done = changed.state == OccurrenceState.DONE if is_current else pengingat.counts_as_done(moment)
    count(pengingat, rows, moment, is_done=is_done)


def stay(pengingat: Pengingat, rows: Sequence[Row], now: datetime) -> None:
    """Update `is_done` after an edit: a due time that is done stays done, also one that was answered early."""
    if dues := current(pengingat, rows, now) if pengingat.schedule.repeats else []:
        states = [row.state for row in rows if row.reminder_id == pengingat.id and row.due_at == dues[-1].at]
        states = [state for state in states if state != OccurrenceState.VOID]
        is_done = bool(states) and set(states) == {OccurrenceState.DONE}
        count(pengingat, rows, dues[-1].occurrence, is_done=is_done)


def count(pengingat: Pengingat, rows: Sequence[Row], current: datetime, *, is_done: bool) -> None:
    """Set `done_from` and `done_until`, the limits of the period in which the reminder counts as done.

    If an occurrence was done in advance, the period begins at the due time of this occurrence.
    """
    schedule, ahead = pengingat.schedule, _done_after(rows, pengingat.id, current)
    if ahead:
        ahead = {due.at for due in schedule.dues(current, max(ahead))} & ahead
    first = current if is_done else min(ahead, default=None)
    # Before the last edit, the schedule had other times.
    until = schedule.next_occurrence(max(first, pengingat.active_from)) or NEVER if first else None
    while until in ahead:
        until = schedule.next_occurrence(until) or NEVER
    pengingat.done_from = None if is_done else first
    pengingat.done_until = until


def _done_after(rows: Sequence[Row], reminder_id: int, moment: datetime) -> set[datetime]:
    """Return the due times of the reminder's ledger rows after this moment.

    Leave out a due time if one of its rows is not done.
    """
    coming = [
        row
        for row in rows
        if row.reminder_id == reminder_id and row.due_at > moment and row.state != OccurrenceState.VOID
    ]
    return {row.due_at for row in coming} - {row.due_at for row in coming if row.state != OccurrenceState.DONE}
