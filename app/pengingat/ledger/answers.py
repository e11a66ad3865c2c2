"""Answers to occurrences from all channels: application, web link, push, message and caregiver.

An occurrence is one due time of a reminder, and a row of the ledger (table `occurrences`). An answer runs four SQL
statements:

1. Lock the person and the reminders.
2. Check the consent to health data.
3. Read the ledger rows around the present time.
4. Write the ledger, the outbox and the reminders.

A late answer runs one more statement, which creates alerts to caregivers. An undo runs several more.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from app.core.errors import Conflict, NotFound, ValidationFailed
from app.notifications import outbox
from app.pengingat.ledger import done, missed, queries, statements, stock, upcoming
from app.pengingat.ledger.queries import LockedReminders
from app.pengingat.ledger.schemas import SNOOZE, UNDO, NewAnswer, QuickAnswer
from app.pengingat.ledger.statements import Row
from app.pengingat.models import LATE, AnsweredVia, OccurrenceState, Pengingat
from app.pengingat.timetable.schedule import AHEAD, NEVER, Due

NOT_FOUND = "Tidak ada jadwal yang dapat dijawab."

#: Maximum age of an answer that was given offline.
OFFLINE = timedelta(days=7)
#: The time of an offline answer may be at most this far in the future, because a device's clock may be fast.
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


def confirm(user_id: int, pengingat_id: int, data: NewAnswer, via: AnsweredVia = AnsweredVia.APP) -> Row:
    """Answer the occurrence at `data.due_at`, or the current one if `due_at` is None. Return the answered occurrence.

    An identical second answer has no effect. Raise `NotFound`, `TooEarly`, `AlreadyClosed` or `CannotSnooze`. For an
    undo, raise `NothingToUndo`.
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
    (answered,) = _Answer(held, rows, data, via, at).give([_asked(pengingat, rows, data, held.now)])
    return answered


def _answered_at(data: NewAnswer, now: datetime) -> datetime | None:
    """Return the time of an offline answer, or now if that is earlier. Return None for an online answer.

    Raise `ValidationFailed` if the time is more than 7 days back or 2 minutes ahead.
    """
    if data.answered_at is None:
        return None
    if not now - OFFLINE <= data.answered_at <= now + FAST_CLOCK:
        raise ValidationFailed({"answered_at": ["harus dalam 7 hari terakhir."]})
    return min(data.answered_at, now)


def answer_all(asked: Sequence[Row], data: QuickAnswer, via: AnsweredVia) -> list[Row]:
    """Record an answer to these occurrences of one person. Return the answered occurrences.

    Answer only the pending occurrences. If none is pending, answer the missed ones. If none is missed either, answer
    all. If the answer is allowed for none of them, raise the first error. Raise `AlreadyClosed` if `via` is CAREGIVER
    and the person is not a dependent any more.
    """
    held, ids = _lock(asked, AlreadyClosed(), via), {row.id for row in asked}
    rows = statements.near(held.reminders, held.now, ids=ids)
    meant = [row for row in reversed(rows) if row.id in ids]
    by_state = (
        [row for row in meant if row.state == state] for state in (OccurrenceState.PENDING, OccurrenceState.MISSED)
    )
    group = next(filter(None, by_state), meant)
    return sorted(_Answer(held, rows, data, via).give(group), key=lambda row: (row.due_at, row.id))


def undo_all(asked: Sequence[Row], via: AnsweredVia | None = None) -> list[Row]:
    """Take back answers of the last 24 hours to these occurrences of one person. Return the changed occurrences.

    An occurrence becomes missed if its due time, or the end of its snooze, was over 60 minutes ago. Otherwise it
    becomes pending. Raise `NothingToUndo` if there is no answer to take back, or if `via` is CAREGIVER and the person
    is not a dependent any more.
    """
    return _undo(_lock(asked, NothingToUndo(), via), {row.id for row in asked})


def _lock(asked: Sequence[Row], refusal: Conflict, via: AnsweredVia | None) -> LockedReminders:
    """Lock the person and the reminders of these occurrences.

    Raise `refusal` if all reminders were deleted, or if a caregiver answers for a person who is not a dependent any
    more.
    """
    ids = {row.reminder_id for row in asked if row.reminder_id is not None}
    try:
        return queries.lock_own_many(asked[0].user_id, ids, via is AnsweredVia.CAREGIVER)
    except NotFound:
        raise refusal from None


def _undo(held: LockedReminders, ids: Collection[int]) -> list[Row]:
    rows = statements.near(held.reminders, held.now, ids=ids) if ids else []
    answered = [row for row in rows if row.id in ids and statements.may_be_undone(row, held.now)]
    if not answered:
        raise NothingToUndo
    reopened = {row.id: _unanswered(held.of(row), row, held.now) for row in answered}
    rows = [reopened.get(row.id, row) for row in rows]
    for row in rows[::-1]:
        if row.id in reopened:
            done.follow(held.of(row), rows, row, held.now)
    visits = [held.of(row) for row in answered if _ended_visit(held, rows, row)]
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
    """Return a copy of the row without its answer. If its dose was subtracted from the stock, add the dose back."""
    due_at = max(row.due_at, row.snoozed_until or row.due_at)
    state = OccurrenceState.PENDING if now < due_at + LATE else OccurrenceState.MISSED
    taken = stock.take(pengingat, row, state, now)
    return row._replace(
        state=state,
        answered_at=None,
        answered_via=None,
        recorded_at=None,
        undone_at=now,
        stock_deducted=taken,
    )


def _ended_visit(held: LockedReminders, rows: Sequence[Row], row: Row) -> bool:
    """Return whether the row is done and belongs to a doctor's visit (`kontrol`) that counts as done.

    The caller must reset `done_until` of such a visit, because `done.follow` does not change visits.
    """
    pengingat = held.of(row)
    if pengingat.type.is_done_by_answers or pengingat.done_until is None or row.state != OccurrenceState.DONE:
        return False
    return row.due_at in {due.at for due in done.current(pengingat, rows, held.now)}


class _Answer:
    """One answer to one or more ledger rows of locked reminders.

    `rows` contains the answered rows and the rows before and after them.
    """

    def __init__(
        self,
        held: LockedReminders,
        rows: Sequence[Row],
        data: QuickAnswer,
        via: AnsweredVia,
        at: datetime | None = None,
    ) -> None:
        self.held, self.now, self.rows, self.status, self.via = held, held.now, rows, data.status, via
        self.span = timedelta(minutes=data.minutes)
        #: Time of an offline answer.
        self.at = at

    def give(self, group: Sequence[Row]) -> list[Row]:
        """Answer the rows for which the answer is allowed. If it is allowed for no row, raise the first error."""
        news: list[Row] = []
        same: list[Row] = []
        refusals: list[Conflict] = []
        for row in group:
            try:
                (news if self._is_news(row) else same).append(row)
            except Conflict as refusal:  # continue, because the answer may be allowed for other rows
                refusals.append(refusal)
        if not news and not same:
            raise refusals[0] if refusals else AlreadyClosed
        return [*self._change(news), *same]

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
        """Return whether this offline answer is older than the last answer or undo of the row."""
        return self.at is not None and any(moment and self.at <= moment for moment in (row.answered_at, row.undone_at))

    def _check_snooze(self, row: Row) -> None:
        if row.state != OccurrenceState.PENDING:
            raise AlreadyClosed
        next_at = _next_at(self.held.of(row), upcoming.due_of(row))
        is_in_time = next_at is None or self._until(row) < next_at
        if row.snoozes >= statements.MAX_SNOOZES or not is_in_time:
            raise CannotSnooze

    def _change(self, news: Sequence[Row]) -> list[Row]:
        if self.status != SNOOZE:
            return record(self.held, self.rows, news, OccurrenceState(self.status), self.via, self.at)
        snoozed = _change(self.held, [(row, self._snoozed(row)) for row in news])
        if len(snoozed) < len(news):
            raise AlreadyClosed
        _enqueue_messages(self.held, snoozed)
        return snoozed

    def _snoozed(self, row: Row) -> Row:
        return row._replace(snoozed_until=self._until(row), snoozes=row.snoozes + 1)

    def _until(self, row: Row) -> datetime:
        """Return the end of a snooze. The snooze begins now, or at the due time if that is later."""
        return max(self.now, row.due_at) + self.span


def record(
    held: LockedReminders,
    rows: Sequence[Row],
    news: Sequence[Row],
    state: OccurrenceState,
    via: AnsweredVia,
    at: datetime | None = None,
) -> list[Row]:
    """Record the answer `state` in the rows `news`. Also update the stock, `is_done` and the alerts to caregivers.

    `rows` is the result of `statements.near`. `at` is the time of an offline answer.
    """
    answered = {
        row.id: row._replace(
            state=state,
            answered_at=at or held.now,
            answered_via=via,
            recorded_at=held.now,
            stock_deducted=stock.take(held.of(row), row, state, held.now),
        )
        for row in news
    }
    rows = [answered.get(row.id, row) for row in rows]
    for row in rows[::-1]:
        if row.id in answered:
            done.follow(held.of(row), rows, row, held.now)
    changed = _change(held, [(row, answered[row.id]) for row in news])
    if swept := answered.keys() - {row.id for row in changed}:
        # These rows were not written, because the job `missed.miss_overdue` had marked them as missed after the read.
        # Write the answer to these rows once more. One retry is enough, because the job changes a row only once.
        closed = [row._replace(state=OccurrenceState.MISSED) for row in news if row.id in swept]
        if not all(_may_become(row, state, rows, held, at) for row in closed):
            raise AlreadyClosed
        changed += _change(held, [(row, answered[row.id]) for row in closed])
    return changed


def _may_become(
    row: Row, state: OccurrenceState, rows: Sequence[Row], held: LockedReminders, at: datetime | None
) -> bool:
    return statements.may_become(row, state, rows, at or held.now, is_offline=at is not None)


def _change(held: LockedReminders, changes: Sequence[tuple[Row, Row]]) -> list[Row]:
    """Write rows, given as pairs of the old and the new row, and cancel their queued messages.

    A row is written only if its stored state is still the state of the old row. Return the written rows.
    """
    if not changes:
        return []
    changed = statements.change(changes, held.changed)
    were_missed = {before.id for before, _ in changes if before.state == OccurrenceState.MISSED}
    if late_ids := [row.id for row in changed if row.id in were_missed and row.state == OccurrenceState.DONE]:
        missed.create_late_alerts(late_ids, held.now)
    return changed


def mark(held: LockedReminders, pengingat: Pengingat, *, is_done: bool, via: AnsweredVia = AnsweredVia.APP) -> None:
    """Record that the current occurrence is done, or that it is not done.

    A reminder that is done counts as done until the reminder's next due time. A reminder that does not repeat counts as
    done permanently.
    """
    if not is_done:
        _reopen(held, pengingat)
        return
    rows = statements.near([pengingat.id], held.now)
    dues = done.current(pengingat, rows, held.now)
    ids = {row.id for row in rows if row.due_at <= held.now and row.due_at in {due.at for due in dues}}
    if not ids:
        # Insert the rows, because an occurrence more than 36 hours ahead has no row yet.
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
    """Set the occurrence that counts as done back to `pending`. Put its unsent messages into the outbox."""
    rows = statements.near([pengingat.id], held.now)
    dues, current = done.done_occurrence(pengingat, rows, held.now), done.current(pengingat, rows, held.now)
    rows = statements.near([pengingat.id], held.now, second=dues[-1].at if dues else None)
    were_done = [row for row in rows if dues and row.due_at == dues[-1].at and row.state == OccurrenceState.DONE]
    reopened = {
        row.id: row._replace(
            state=OccurrenceState.PENDING,
            answered_at=None,
            answered_via=None,
            recorded_at=None,
            undone_at=held.now,
            snoozed_until=None,
            stock_deducted=stock.take(pengingat, row, OccurrenceState.PENDING, held.now),
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


def _enqueue_messages(held: LockedReminders, rows: Sequence[Row], *, again: bool = True) -> None:
    """Put the messages of pending occurrences into the outbox. Leave out expired and already sent messages.

    With `again=False`, also leave out the second message of an unanswered dose.
    """
    drafts: list[outbox.NewDelivery] = []
    for row in rows:
        pengingat = held.of(row)
        drafts += upcoming.deliveries(pengingat, upcoming.due_of(row), row)
    asks = (draft for draft in drafts if again or "again" not in draft.payload)
    outbox.add_all([draft for draft in asks if draft.expires_at > held.now])


def _asked(pengingat: Pengingat, rows: Sequence[Row], data: NewAnswer, now: datetime) -> Row:
    """Return the ledger row at `data.due_at`, or the current row if `due_at` is None.

    Raise `NotFound` if there is no such row. Raise `TooEarly` if the schedule has this due time, but the ledger has no
    row for it yet.
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
    """Return whether the reminder's schedule has a due time in the second that begins at `second`."""
    before = timedelta(microseconds=1)
    dues = pengingat.schedule.dues(second - before, second + timedelta(seconds=1) - before)
    return any(not slot or slot == due.slot for due in dues)


def _meant(latest: Sequence[Row], now: datetime) -> Row | None:
    """Return the current row: the last due row that is pending, or else the next pending row.

    If no row is pending, return the last row. `latest` is sorted, newest first.
    """
    is_open = [row for row in latest if row.state == OccurrenceState.PENDING]
    due = [row for row in is_open if row.due_at <= now]
    return next(iter([*due, *is_open[::-1], *latest]), None)


def _next_at(pengingat: Pengingat, due: Due) -> datetime | None:
    """Return the next due time of the reminder after `due`.

    After the last notice of a doctor's visit, this is the time of the visit.
    """
    schedule = pengingat.schedule
    if schedule.repeats:
        return schedule.next_occurrence(due.at)
    notices = [notice.at for notice in schedule.dues(due.at, NEVER)]
    return min([*notices, *([due.occurrence] if due.occurrence > due.at else [])], default=None)
