"""Answers to occurrences from all channels: application, web link, push, message and caregiver.

An occurrence is one due time of a reminder, and a row of the ledger (table `occurrences`). An answer locks the person
and the reminders, then the rows, and changes the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.core.errors import Conflict, NotFound, ValidationFailed
from app.pengingat.ledger import alerts, bells, queries, rows, stock, upcoming
from app.pengingat.ledger.queries import LockedReminders
from app.pengingat.ledger.schemas import SNOOZE, UNDO, NewAnswer, QuickAnswer
from app.pengingat.models import AnsweredVia, Occurrence, OccurrenceState, Pengingat, occurrences
from app.pengingat.timetable.schedule import AHEAD, NEVER

NOT_FOUND = "Tidak ada jadwal yang dapat dijawab."

#: Maximum age of an answer that was given offline.
OFFLINE = timedelta(days=7)
#: The time of an offline answer may be at most this far in the future, because a device's clock may be fast.
FAST_CLOCK = timedelta(minutes=2)
#: Time after an answer during which the next answer without `due_at` means the same due time.
JUST_ANSWERED = timedelta(minutes=2)


class AlreadyClosed(Conflict):
    code = "already_closed"
    message = "Waktu untuk menjawab pengingat ini sudah lewat."


class TooEarly(Conflict):
    code = "too_early"
    message = "Belum waktunya. Pengingat ini bisa dijawab mulai satu jam sebelumnya."


class NothingToUndo(Conflict):
    code = "nothing_to_undo"
    message = "Tidak ada jawaban yang bisa dibatalkan."


class CannotSnooze(Conflict):
    code = "cannot_snooze"
    message = "Pengingat ini tidak dapat ditunda lagi."


def confirm(user_id: int, pengingat_id: int, data: NewAnswer, via: AnsweredVia = AnsweredVia.APP) -> Occurrence:
    """Answer the occurrence at `data.due_at`, or the present one if `due_at` is None. Return the answered occurrence.

    An identical second answer has no effect. Raise `NotFound`, `TooEarly`, `AlreadyClosed` or `CannotSnooze`. For an
    undo, raise `NothingToUndo`.
    """
    held = queries.lock_own_many(user_id, [pengingat_id])
    second = data.due_at and data.due_at.replace(microsecond=0)
    if data.status == UNDO:
        return _undo(held, rows.lock_last_answered(pengingat_id, held.now, second, data.slot))[0]
    at = _answered_at(data, held.now)
    if second and second > held.now + AHEAD:
        raise TooEarly
    found = (
        min(rows.lock_at(pengingat_id, second, data.slot), key=lambda row: not _is_open(row), default=None)
        if second
        else _present(*rows.lock_present(pengingat_id, held.now, data.slot), held.now)
    )
    if found is None:
        raise NotFound(NOT_FOUND)
    return _answer(held, [found], data, via, at)[0]


def _answered_at(data: NewAnswer, now: datetime) -> datetime | None:
    """Return the time of an offline answer, or now if that is earlier. Return None for an online answer.

    Raise `ValidationFailed` if the time is more than 7 days back or 2 minutes ahead.
    """
    if data.answered_at is None:
        return None
    if not now - OFFLINE <= data.answered_at <= now + FAST_CLOCK:
        raise ValidationFailed({"answered_at": ["harus dalam 7 hari terakhir."]})
    return min(data.answered_at, now)


def _present(last: list[Occurrence], coming: list[Occurrence], now: datetime) -> Occurrence | None:
    """Return the row that an answer without `due_at` means, if there is one."""
    unanswered = [row for row in last if row.state not in rows.ANSWERED]
    fresh = [row for row in last if row.answered_at and row.answered_at > now - JUST_ANSWERED]
    open_ahead = [row for row in coming if _is_open(row)]
    return next(iter([*unanswered, *fresh, *open_ahead, *coming, *last]), None)


def _is_open(row: Occurrence) -> bool:
    return row.state == OccurrenceState.PENDING


def answer_all(asked: Sequence[Occurrence], data: QuickAnswer, via: AnsweredVia) -> list[Occurrence]:
    """Record an answer to these occurrences of one person. Return the answered occurrences, the changed ones first.

    Answer only the pending occurrences. If none is pending, answer the missed ones. If none is missed either, answer
    all. If the answer is allowed for none of them, raise the first error. Raise `AlreadyClosed` if `via` is CAREGIVER
    and the person is not a dependent any more.
    """
    held, meant = _lock(asked, AlreadyClosed(), via)
    for state in (OccurrenceState.PENDING, OccurrenceState.MISSED):
        if group := [row for row in meant if row.state == state]:
            return _answer(held, group, data, via)
    return _answer(held, meant, data, via)


def undo_all(asked: Sequence[Occurrence], via: AnsweredVia | None = None) -> list[Occurrence]:
    """Take back answers of the last 24 hours to these occurrences of one person. Return the changed occurrences.

    Raise `NothingToUndo` if there is no answer to take back, or if `via` is CAREGIVER and the person is not a dependent
    any more.
    """
    return _undo(*_lock(asked, NothingToUndo(), via))


def _lock(
    asked: Sequence[Occurrence], refusal: Conflict, via: AnsweredVia | None
) -> tuple[LockedReminders, list[Occurrence]]:
    """Lock the person, the reminders and the rows of these occurrences. Return the reminders and the rows.

    Raise `refusal` if all reminders were deleted, or if a caregiver answers for a person who is not a dependent any
    more.
    """
    of_reminders = {row.reminder_id for row in asked if row.reminder_id is not None}
    try:
        held = queries.lock_own_many(asked[0].user_id, of_reminders, via is AnsweredVia.CAREGIVER)
    except NotFound:
        raise refusal from None
    order = [row.id for row in asked]
    return held, sorted(rows.lock_ids(order), key=lambda row: order.index(row.id))


def _answer(
    held: LockedReminders,
    group: Sequence[Occurrence],
    data: QuickAnswer,
    via: AnsweredVia,
    at: datetime | None = None,
) -> list[Occurrence]:
    """Answer the rows for which the answer is allowed. If it is allowed for no row, raise the first error.

    `at` is the time of an offline answer. Return the changed rows, and then those that had this answer already.
    """
    changed: list[Occurrence] = []
    same: list[Occurrence] = []
    refusals: list[Conflict] = []
    for row in group:
        try:
            is_news = _snooze(held, row, data) if data.status == SNOOZE else _record(held, row, data, via, at)
            (changed if is_news else same).append(row)
        except Conflict as refusal:  # continue, because the answer may be allowed for other rows
            refusals.append(refusal)
    if not changed and not same:
        raise refusals[0] if refusals else AlreadyClosed
    _save(held, changed)
    if data.status == SNOOZE:
        bells.ring((bell for row in changed for bell in bells.of_row(held.of(row), row)), held.now)
    return [*changed, *same]


def _record(held: LockedReminders, row: Occurrence, data: QuickAnswer, via: AnsweredVia, at: datetime | None) -> bool:
    """Answer a row with done or skipped. Return whether the answer changes the row."""
    state = OccurrenceState(data.status)
    if row.due_at > held.now + AHEAD:
        raise TooEarly
    is_outdated = at is not None and any(moment and at <= moment for moment in (row.answered_at, row.undone_at))
    if row.state == state or is_outdated:
        return False
    if not rows.may_become(row, state, at or held.now, is_offline=at is not None):
        raise AlreadyClosed
    _set(held, row, state, via, at)
    return True


def _set(
    held: LockedReminders, row: Occurrence, state: OccurrenceState, via: AnsweredVia, at: datetime | None = None
) -> None:
    row.stock_deducted = stock.take(held.of(row), row, state, held.now)
    row.state, row.answered_via = state, via
    row.answered_at, row.recorded_at = at or held.now, held.now


def _snooze(held: LockedReminders, row: Occurrence, data: QuickAnswer) -> bool:
    if row.due_at > held.now + AHEAD:
        raise TooEarly
    if not _is_open(row):
        raise AlreadyClosed
    until = max(held.now, row.due_at) + timedelta(minutes=data.minutes, seconds=59, microseconds=999_999)
    until = until.replace(second=0, microsecond=0)
    visit = upcoming.due_of(row).occurrence
    following = min(filter(None, (row.next_at, visit if visit > row.due_at else None)), default=NEVER)
    if row.snoozes >= rows.MAX_SNOOZES or until >= following:
        raise CannotSnooze
    row.snoozed_until, row.snoozes = until, row.snoozes + 1
    return True


def _undo(held: LockedReminders, group: Sequence[Occurrence]) -> list[Occurrence]:
    answered = [row for row in group if rows.may_be_undone(row, held.now)]
    if not answered:
        raise NothingToUndo
    _reopen(held, answered)
    return answered


def _reopen(held: LockedReminders, answered: Sequence[Occurrence]) -> None:
    """Take the answers of these rows back. The row that ended a reminder also takes the end back."""
    for row in answered:
        pengingat = held.of(row)
        state = OccurrenceState.PENDING if held.now < row.over_at else OccurrenceState.MISSED
        row.stock_deducted = stock.take(pengingat, row, state, held.now)
        row.state, row.undone_at = state, held.now
        row.answered_at = row.answered_via = row.recorded_at = None
        if pengingat.is_finished and row.next_at is None:
            _restart(pengingat, held.now)
    _save(held, answered)


def _restart(pengingat: Pengingat, now: datetime) -> None:
    pengingat.is_finished = False
    upcoming.plan([upcoming.Extension(pengingat, now)], now)


def _save(held: LockedReminders, changed: Sequence[Occurrence]) -> None:
    """Write the changed rows, and tell caregivers."""
    states = {row.id: sa.inspect(row).attrs.state.history.deleted for row in changed}
    db.session.flush()
    done = [row.id for row in changed if row.state == OccurrenceState.DONE]
    if late := [id_ for id_ in done if OccurrenceState.MISSED in states[id_]]:
        alerts.add_late(late, held.now)
    if missed_again := [row.id for row in changed if row.state == OccurrenceState.MISSED]:
        alerts.add_missed(missed_again, held.now)


def mark(held: LockedReminders, pengingat: Pengingat, *, is_done: bool, via: AnsweredVia) -> None:
    """Answer the last due time, or before the first one the next, whatever its age. A single reminder is then finished.

    With `is_done` false, take this back.
    """
    present = _marked(pengingat, held.now)
    if is_done:
        news = [row for row in present if row.state != OccurrenceState.DONE]
        for row in news:
            _set(held, row, OccurrenceState.DONE, via)
        _save(held, news)
        if not pengingat.schedule.repeats:
            pengingat.is_finished = True
            rows.void(occurrences.c.reminder_id == pengingat.id)
        return
    _reopen(held, [row for row in present if row.state == OccurrenceState.DONE])
    if pengingat.is_finished:
        _restart(pengingat, held.now)


def _marked(pengingat: Pengingat, now: datetime) -> list[Occurrence]:
    """Lock and return the rows that `is_done` is about. Write the rows of the next due time if it has none yet."""
    last, coming = rows.lock_present(pengingat.id, now, ahead=NEVER - now)
    until = pengingat.schedule.next_occurrence(now)
    if last or coming or until is None:
        return last or coming
    dues = pengingat.schedule.dues(now, until)
    return rows.record([upcoming.entry(pengingat, due) for due in dues if due.at == dues[0].at])
