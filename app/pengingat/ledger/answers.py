"""Answers to occurrences from all channels: application, link, push, message and caregiver.

An answer takes three statements. They lock the person and the reminders, read the ledger around now, and write the
ledger, the outbox and the reminders. A late answer takes one more, which creates the alerts. An undo takes several
more.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from app.core.errors import Conflict, NotFound, ValidationFailed
from app.notifications import outbox
from app.pengingat.ledger import done, missed, queries, statements, stock, upcoming
from app.pengingat.ledger.queries import LockedReminders
from app.pengingat.ledger.schemas import SNOOZE, UNDO, NewAnswer, QuickAnswer
from app.pengingat.ledger.statements import Row
from app.pengingat.models import LATE, AnsweredVia, Occurrence, OccurrenceState, Pengingat
from app.pengingat.timetable.schedule import AHEAD, NEVER, Due
from app.pengingat.timetable.tipe import Tipe

NOT_FOUND = "Tidak ada jadwal yang dapat dijawab."

#: Maximum age of an offline answer, and tolerance for a device whose clock is ahead.
OFFLINE = timedelta(days=7)
FAST_CLOCK = timedelta(minutes=2)


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
    """Answer the occurrence at `data.due_at`, or without it the current one. Return the occurrence after the answer.

    The same answer a second time has no effect. Raise `NotFound`, `TooEarly`, `AlreadyClosed` or `CannotSnooze`. For
    an undo, raise `NothingToUndo`.
    """
    held = queries.lock_own_many(user_id, [pengingat_id])
    pengingat = held.reminders[pengingat_id]

    second = data.due_at and data.due_at.replace(microsecond=0)
    if data.status == UNDO:
        last = statements.last_answered(pengingat_id, held.now, second, data.slot)
        (reopened,) = _undo(held, {last.id} if last else ())
        return reopened
    at = _answered_at(data, held.now)
    rows = statements.near([pengingat_id], held.now, second=second, until=at, slot=None if second else data.slot)
    (answered,) = _Answer(held, rows, data, via, data.note, at).give([_asked(pengingat, rows, data, held.now)])
    return answered


def _answered_at(data: NewAnswer, now: datetime) -> datetime | None:
    """Return the time of an offline answer, at most now. Raise `ValidationFailed` if the time is out of range."""
    if data.answered_at is None:
        return None
    if not now - OFFLINE <= data.answered_at <= now + FAST_CLOCK:
        raise ValidationFailed({"answered_at": ["harus dalam 7 hari terakhir."]})
    return min(data.answered_at, now)


def answer_all(asked: Sequence[Occurrence], data: QuickAnswer, via: AnsweredVia) -> list[Occurrence]:
    """Answer one person's occurrences: the pending ones, or if there are none the missed ones, else all.

    Return the answered occurrences. Raise the first refusal if no occurrence could be answered.
    """
    held, ids = _lock(asked, AlreadyClosed()), {row.id for row in asked}
    rows = statements.near(held.reminders, held.now, ids=ids)
    meant = [row for row in reversed(rows) if row.id in ids]
    by_state = (
        [row for row in meant if row.state == state] for state in (OccurrenceState.PENDING, OccurrenceState.MISSED)
    )
    group = next(filter(None, by_state), meant)
    return sorted(_Answer(held, rows, data, via).give(group), key=lambda row: (row.due_at, row.id))


def undo_all(asked: Sequence[Occurrence]) -> list[Occurrence]:
    """Take back the answers to these occurrences of one person, if they are at most 24 hours old.

    Return the reopened occurrences. A reopened occurrence is pending until 60 minutes after its due time or the end of
    its snooze, then missed. Stock and `is_done` are updated. Raise `NothingToUndo` if there is no answer to take back.
    """
    return _undo(_lock(asked, NothingToUndo()), {row.id for row in asked})


def _lock(asked: Sequence[Occurrence], refusal: Conflict) -> LockedReminders:
    """Lock the person and the reminders of these occurrences. Raise `refusal` if no reminder is left."""
    try:
        return queries.lock_own_many(
            asked[0].user_id, {row.reminder_id for row in asked if row.reminder_id is not None}
        )
    except NotFound:
        raise refusal from None


def _undo(held: LockedReminders, ids: Collection[int]) -> list[Occurrence]:
    rows = statements.near(held.reminders, held.now, ids=ids) if ids else []
    answered = [row for row in rows if row.id in ids and statements.may_be_undone(row, held.now)]
    if not answered:
        raise NothingToUndo
    reopened = {row.id: _unanswered(held.reminders[row.reminder_id], row, held.now) for row in answered}
    rows = [reopened.get(row.id, row) for row in rows]
    for row in rows[::-1]:
        if row.id in reopened:
            done.follow(held.reminders[row.reminder_id], rows, row, held.now)
    visits = [held.reminders[row.reminder_id] for row in answered if _ended_visit(held, row)]
    for visit in visits:
        visit.done_from = visit.done_until = None
    changed = _change(held, [(row, reopened[row.id]) for row in answered])
    is_open = [row for row in changed if row.state == OccurrenceState.PENDING]
    _enqueue_messages(held, [row for row in is_open if row.due_at > held.now])
    _enqueue_messages(held, [row for row in is_open if row.due_at <= held.now], again=False)
    upcoming.plan([upcoming.Extension(visit, held.now) for visit in visits], held.now)
    if missed_ids := [row.id for row in changed if row.state == OccurrenceState.MISSED]:
        missed.create_missed_alerts(missed_ids, held.now)
    return sorted(changed, key=lambda row: (row.due_at, row.id))


def _unanswered(pengingat: Pengingat, row: Row, now: datetime) -> Row:
    """Return the row without its answer, and update the stock."""
    due_at = max(row.due_at, row.snoozed_until or row.due_at)
    state = OccurrenceState.PENDING if now < due_at + LATE else OccurrenceState.MISSED
    taken = stock.take(pengingat, row, state)
    return replace(
        row, state=state, answered_at=None, answered_via=None, undone_at=now, stock_deducted=taken, note=None
    )


def _ended_visit(held: LockedReminders, row: Row) -> bool:
    """Return whether this row was done by `is_done` of its visit. `done.follow` does not change visits."""
    pengingat = held.reminders[row.reminder_id]
    if pengingat.tipe != Tipe.KONTROL or pengingat.done_until is None or row.state != OccurrenceState.DONE:
        return False
    return row.due_at in {due.at for due in done.current(pengingat, held.now)}


class _Answer:
    """Answer to rows of locked reminders. `rows` has these rows and the rows around them."""

    def __init__(
        self,
        held: LockedReminders,
        rows: Sequence[Row],
        data: QuickAnswer,
        via: AnsweredVia,
        note: str | None = None,
        at: datetime | None = None,
    ) -> None:
        self.held, self.now, self.rows, self.status, self.via, self.note = held, held.now, rows, data.status, via, note
        self.span = timedelta(minutes=data.minutes)
        #: Time of an offline answer.
        self.at = at

    def give(self, group: Sequence[Row]) -> list[Occurrence]:
        """Answer these rows as far as possible. Raise the first refusal if no row can be answered."""
        news: list[Row] = []
        same: list[Row] = []
        refusals: list[Conflict] = []
        for row in group:
            try:
                (news if self._is_news(row) else same).append(row)
            except Conflict as refusal:  # go on, because other rows may accept it
                refusals.append(refusal)
        if not news and not same:
            raise refusals[0] if refusals else AlreadyClosed
        return [*self._change(news), *statements.get([row.id for row in same])]

    def _is_news(self, row: Row) -> bool:
        """Return whether the answer changes the row. Raise a `Conflict` if the answer is not allowed."""
        if row.state != OccurrenceState.VOID and row.due_at > self.now + AHEAD:
            raise TooEarly
        if self.status == SNOOZE:
            self._check_snooze(row)
        elif row.state == self.status or self._is_outdated(row):
            return False
        elif not _may_become(row, OccurrenceState(self.status), self.rows, self.held, self.at):
            raise AlreadyClosed
        return True

    def _is_outdated(self, row: Row) -> bool:
        """Return whether the row has an answer or an undo that is newer than this offline answer."""
        return self.at is not None and any(moment and self.at <= moment for moment in (row.answered_at, row.undone_at))

    def _check_snooze(self, row: Row) -> None:
        if row.state != OccurrenceState.PENDING:
            raise AlreadyClosed
        next_at = _next_at(self.held.reminders[row.reminder_id], upcoming.due_of(row))
        is_in_time = next_at is None or self._until(row) < next_at
        if row.snoozes >= statements.MAX_SNOOZES or not is_in_time:
            raise CannotSnooze

    def _change(self, news: Sequence[Row]) -> list[Occurrence]:
        if self.status != SNOOZE:
            return record(self.held, self.rows, news, OccurrenceState(self.status), self.via, self.note, self.at)
        snoozed = _change(self.held, [(row, self._snoozed(row)) for row in news])
        if len(snoozed) < len(news):
            raise AlreadyClosed
        _enqueue_messages(self.held, snoozed)
        return snoozed

    def _snoozed(self, row: Row) -> Row:
        return replace(row, snoozed_until=self._until(row), snoozes=row.snoozes + 1)

    def _until(self, row: Row) -> datetime:
        """Return the end of a snooze. It is counted from now, or from the due time if that is later."""
        return max(self.now, row.due_at) + self.span


def record(
    held: LockedReminders,
    rows: Sequence[Row],
    news: Sequence[Row],
    state: OccurrenceState,
    via: AnsweredVia,
    note: str | None = None,
    at: datetime | None = None,
) -> list[Occurrence]:
    """Record an answer to the rows `news`. Update the stock, `is_done` and the alerts to caregivers.

    `rows` has the rows that `statements.near` returned. `at` is the time of an offline answer.
    """
    answered = {
        row.id: replace(
            row,
            state=state,
            answered_at=at or held.now,
            answered_via=via,
            stock_deducted=stock.take(held.reminders[row.reminder_id], row, state),
            note=note or row.note,
        )
        for row in news
    }
    rows = [answered.get(row.id, row) for row in rows]
    for row in rows[::-1]:
        if row.id in answered:
            done.follow(held.reminders[row.reminder_id], rows, row, held.now)
    changed = _change(held, [(row, answered[row.id]) for row in news])
    if swept := answered.keys() - {row.id for row in changed}:
        # `missed.miss_overdue` has marked these rows as missed since they were read. One retry is enough, because it
        # changes a row only once.
        closed = [replace(row, state=OccurrenceState.MISSED) for row in news if row.id in swept]
        if not all(_may_become(row, state, rows, held, at) for row in closed):
            raise AlreadyClosed
        changed += _change(held, [(row, answered[row.id]) for row in closed])
    return changed


def _may_become(
    row: Row, state: OccurrenceState, rows: Sequence[Row], held: LockedReminders, at: datetime | None
) -> bool:
    return statements.may_become(row, state, rows, at or held.now, is_offline=at is not None)


def _change(held: LockedReminders, changes: Sequence[tuple[Row, Row]]) -> list[Occurrence]:
    """Write pairs of old and new rows, and cancel their waiting deliveries. Return those with the expected state."""
    if not changes:
        return []
    changed = statements.change(changes, held.changed)
    were_missed = {before.id for before, _ in changes if before.state == OccurrenceState.MISSED}
    if late_ids := [row.id for row in changed if row.id in were_missed and row.state == OccurrenceState.DONE]:
        missed.create_late_alerts(late_ids, held.now)
    return changed


def mark(held: LockedReminders, pengingat: Pengingat, *, is_done: bool, via: AnsweredVia = AnsweredVia.APP) -> None:
    """Record that the current occurrence is done until the next one falls due, or that it is not done.

    A reminder that does not repeat counts as done for ever.
    """
    if not is_done:
        _reopen(held, pengingat)
        return
    dues = done.current(pengingat, held.now)
    outbox.cancel(upcoming.about(pengingat.id), [upcoming.KIND])
    # An occurrence after the planning horizon has no row yet.
    ids = {row.id for row in statements.record([upcoming.entry(pengingat, due) for due in dues])}
    rows = statements.near([pengingat.id], held.now, ids=ids)
    news = [row for row in rows if row.id in ids and statements.may_become(row, OccurrenceState.DONE, rows, held.now)]
    record(held, rows, news, OccurrenceState.DONE, via)
    if dues:
        done.count(pengingat, rows, dues[-1].occurrence, is_done=True)
    else:
        pengingat.done_from, pengingat.done_until = None, NEVER
    if not pengingat.schedule.repeats:
        statements.void(pengingat.id)


def _reopen(held: LockedReminders, pengingat: Pengingat) -> None:
    """Set the occurrence that counts as done now to pending, and put its unsent deliveries into the outbox again."""
    dues, current = done.said_done(pengingat, held.now), done.current(pengingat, held.now)
    rows = statements.near([pengingat.id], held.now, second=dues[-1].at if dues else None)
    were_done = [row for row in rows if dues and row.due_at == dues[-1].at and row.state == OccurrenceState.DONE]
    reopened = {
        row.id: replace(
            row,
            state=OccurrenceState.PENDING,
            answered_at=None,
            answered_via=None,
            undone_at=held.now,
            snoozed_until=None,
            stock_deducted=stock.take(pengingat, row, OccurrenceState.PENDING),
        )
        for row in were_done
    }
    pengingat.done_from = pengingat.done_until = None
    if current:
        rows = [reopened.get(row.id, row) for row in rows]
        done.count(pengingat, rows, current[-1].occurrence, is_done=False)
    slots = {due.slot for due in dues}
    _enqueue_messages(
        held, [row for row in _change(held, [(row, reopened[row.id]) for row in were_done]) if row.slot in slots]
    )


def _enqueue_messages(held: LockedReminders, rows: Sequence[Occurrence], *, again: bool = True) -> None:
    """Put the deliveries of open occurrences into the outbox, without expired and already sent ones.

    With `again=False`, also leave out the repeats.
    """
    drafts: list[outbox.NewDelivery] = []
    for row in rows:
        pengingat = held.reminders[row.reminder_id or 0]
        drafts += upcoming.deliveries(pengingat, upcoming.due_of(row), row)
    asks = (draft for draft in drafts if again or "again" not in draft.payload)
    outbox.add_all([draft for draft in asks if draft.expires_at > held.now])


def _asked(pengingat: Pengingat, rows: Sequence[Row], data: NewAnswer, now: datetime) -> Row:
    """Return the row at `data.due_at`, or without it the current row. Raise `NotFound` if there is no such row.

    Raise `TooEarly` if the schedule has this due time, but it is not recorded in the ledger yet.
    """
    if data.slot:
        rows = [row for row in rows if row.slot == data.slot]
    if data.due_at is None:
        found = _meant([row for row in rows if row.state != OccurrenceState.VOID and row.due_at <= now + AHEAD], now)
    else:
        second = data.due_at.replace(microsecond=0)
        named = [row for row in rows if row.due_at.replace(microsecond=0) == second]
        found = min(named, key=lambda row: (row.state != OccurrenceState.PENDING, row.slot), default=None)
        if found is None and second > now + AHEAD and _is_due(pengingat, second, data.slot):
            raise TooEarly
    if found is None:
        raise NotFound(NOT_FOUND)
    return found


def _is_due(pengingat: Pengingat, second: datetime, slot: str | None) -> bool:
    """Return whether the schedule has a due time within this second."""
    before = timedelta(microseconds=1)
    dues = pengingat.schedule.dues(second - before, second + timedelta(seconds=1) - before)
    return any(not slot or slot == due.slot for due in dues)


def _meant(latest: Sequence[Row], now: datetime) -> Row | None:
    """Return the current row: the last pending one that is due, else the next pending one, else the last row.

    `latest` is sorted, newest first.
    """
    is_open = [row for row in latest if row.state == OccurrenceState.PENDING]
    due = [row for row in is_open if row.due_at <= now]
    return next(iter([*due, *is_open[::-1], *latest]), None)


def _next_at(pengingat: Pengingat, due: Due) -> datetime | None:
    """Return the next due time of the reminder. After the last notice of a visit, this is the visit itself."""
    schedule = pengingat.schedule
    if schedule.repeats:
        return schedule.next_occurrence(due.at)
    notices = [notice.at for notice in schedule.dues(due.at, NEVER)]
    return min([*notices, *([due.occurrence] if due.occurrence > due.at else [])], default=None)
