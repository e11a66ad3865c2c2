"""What a person says of an occurrence, whichever way it comes, and what follows from it for the reminder."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa

from app.core.database import clock as database_clock
from app.core.database.session import db
from app.core.errors import Conflict, NotFound
from app.identity.models import PHONE_IS_PROVEN, User
from app.identity.sessions import Reader
from app.notifications import outbox
from app.pengingat import alerts, ledger, occurrences, own, stock, swift
from app.pengingat.ledger_schemas import NewAnswer
from app.pengingat.models import AnsweredVia, Occurrence, Pengingat, State, Tipe
from app.pengingat.schedule import AHEAD, MARGIN, NEVER, WEEK, Due
from app.pengingat.texts import Recipient

NOT_FOUND = "Tidak ada jadwal yang dapat dijawab."


class AlreadyClosed(Conflict):
    code = "already_closed"
    message = "Jadwal ini sudah ditutup, jadi tidak dapat dijawab lagi."


class TooEarly(Conflict):
    code = "too_early"
    message = "Belum waktunya. Pengingat ini bisa dijawab mulai satu jam sebelumnya."


class CannotSnooze(Conflict):
    code = "cannot_snooze"
    message = "Pengingat ini tidak dapat ditunda lagi."


def confirm_own(by: Reader, pengingat_id: int, data: NewAnswer) -> dict[str, object]:
    """An answer in the application to an own reminder; `Unauthorized` for a session that has ended."""
    return swift.answer(by, pengingat_id, data) or shown(confirm(by.ask().id, pengingat_id, data))


def shown(occurrence: Occurrence) -> dict[str, object]:
    """The fields of the schema `Occurrence`."""
    return {**{name: getattr(occurrence, column) for name, column in swift.COLUMNS.items()}, "late": occurrence.late}


def confirm(user_id: int, pengingat_id: int, data: NewAnswer, via: AnsweredVia = AnsweredVia.APP) -> Occurrence:
    """As `confirm_own`, whatever it takes, and also for a caregiver in the person's place."""
    now = database_clock.now()
    pengingat = own.locked_after_person(user_id, pengingat_id)
    return answer(pengingat, _asked(pengingat, data, now), data, via, now)


def answer(
    pengingat: Pengingat, occurrence: Occurrence, data: NewAnswer, via: AnsweredVia, now: datetime
) -> Occurrence:
    """Record an answer, or put the question off. The same answer again changes nothing. The reminder is locked.

    Raise `TooEarly` more than 60 minutes before the occurrence falls due.
    """
    if occurrence.state != State.VOID and occurrence.due_at > now + AHEAD:
        raise TooEarly
    if data.status == "snooze":
        return _snooze(pengingat, occurrence, timedelta(minutes=data.minutes), now)
    state = State(data.status)
    answered = ledger.answer(occurrence.id, state, now, via, data.note)
    if answered is None:
        if occurrence.state != state:
            raise AlreadyClosed
        return occurrence
    outbox.cancel_occurrences([occurrence.id])
    _settle(pengingat, answered, now)
    _follow(pengingat, answered, now)
    return answered


def _asked(pengingat: Pengingat, data: NewAnswer, now: datetime) -> Occurrence:
    """The occurrence that an answer names, else the one that a person means now. `TooEarly` beyond the ledger."""
    rows = sa.select(Occurrence).where(Occurrence.reminder_id == pengingat.id)
    if data.slot:
        rows = rows.where(Occurrence.slot == data.slot)
    if data.due_at:
        second = data.due_at.replace(microsecond=0)
        rows = rows.where(Occurrence.due_at >= second, Occurrence.due_at < second + timedelta(seconds=1))
        found = db.session.scalars(rows.order_by(Occurrence.state != State.PENDING, Occurrence.slot)).first()
        if found is None and second > now + AHEAD and _is_due(pengingat, second, data.slot):
            raise TooEarly
    else:
        rows = rows.where(Occurrence.state != State.VOID, Occurrence.due_at <= now + AHEAD)
        latest = rows.order_by(Occurrence.due_at.desc(), Occurrence.slot.desc()).limit(ledger.LATEST)
        found = _meant(db.session.scalars(latest).all(), now)
    if found is None:
        raise NotFound(NOT_FOUND)
    return found


def _is_due(pengingat: Pengingat, second: datetime, slot: str | None) -> bool:
    """Return whether the reminder falls due within this second, by its schedule."""
    before = timedelta(microseconds=1)
    dues = pengingat.schedule.dues(second - before, second + timedelta(seconds=1) - before)
    return any(not slot or slot == due.slot for due in dues)


def _meant(latest: Sequence[Occurrence], now: datetime) -> Occurrence | None:
    """Of the latest, newest first: the last that is due and open, else the next, else the last that was answered."""
    is_open = [row for row in latest if row.state == State.PENDING]
    due = [row for row in is_open if row.due_at <= now]
    return next(iter([*due, *is_open[::-1], *latest]), None)


def _settle(pengingat: Pengingat, answered: Occurrence, now: datetime) -> None:
    """What follows from an answer that won, for the stock and for caregivers."""
    stock.settle(pengingat, answered)
    if answered.late:
        alerts.note_late(answered, now)


def _follow(pengingat: Pengingat, occurrence: Occurrence, now: datetime) -> None:
    """`is_done` is about the current occurrence and those to come; of a visit with its notices only the person ends
    it."""
    dues = _current(pengingat, now)
    if pengingat.tipe == Tipe.KONTROL or not dues or occurrence.due_at < dues[-1].at:
        return
    current, is_current = dues[-1].occurrence, occurrence.due_at == dues[-1].at
    is_done = occurrence.state == State.DONE if is_current else pengingat.counts_as_done(current)
    _count_done(pengingat, current, is_done=is_done)


def _count_done(pengingat: Pengingat, current: datetime, *, is_done: bool) -> None:
    """Set from when until when the reminder counts as done: what was done ahead does so from its own moment on."""
    schedule, done = pengingat.schedule, ledger.done_after(pengingat.id, current)
    ahead = [due.at for due in schedule.dues(current, max(done)) if due.at in done] if done else []
    first = current if is_done else next(iter(ahead), None)
    until = schedule.next_occurrence(first) or NEVER if first else None
    while until in ahead:
        until = schedule.next_occurrence(until) or NEVER
    pengingat.done_from = None if is_done else first
    pengingat.done_until = until


def _snooze(pengingat: Pengingat, occurrence: Occurrence, span: timedelta, now: datetime) -> Occurrence:
    """One more delivery later, in place of what has not left yet; never as late as the next occurrence."""
    if occurrence.state != State.PENDING:
        raise AlreadyClosed
    until, due = max(now, occurrence.due_at) + span, occurrences.due_of(occurrence)
    next_at = _next_at(pengingat, due)
    snoozed = ledger.snooze(occurrence.id, until) if next_at is None or until < next_at else None
    if snoozed is None:
        raise CannotSnooze
    outbox.cancel_occurrences([occurrence.id])
    _tell(pengingat, snoozed, now)
    return snoozed


def _tell(pengingat: Pengingat, row: Occurrence, now: datetime) -> None:
    """Put into the outbox what tells of an open occurrence and is not too late; what has left does not leave again."""
    person = db.session.execute(sa.select(User.nama_ktp, PHONE_IS_PROVEN).where(User.id == pengingat.user_id)).one()
    drafts = occurrences.deliveries(pengingat, occurrences.due_of(row), Recipient(*person), row)
    outbox.add_all([draft for draft in drafts if draft.expires_at > now])


def _next_at(pengingat: Pengingat, due: Due) -> datetime | None:
    """When the reminder falls due next; after a visit's last notice the visit itself."""
    schedule = pengingat.schedule
    if schedule.repeats:
        return schedule.next_occurrence(due.at)
    notices = [notice.at for notice in schedule.dues(due.at, NEVER)]
    return min([*notices, *([due.occurrence] if due.occurrence > due.at else [])], default=None)


def mark(pengingat: Pengingat, *, is_done: bool, now: datetime, via: AnsweredVia = AnsweredVia.APP) -> None:
    """Done: the current occurrence counts as done until the next one falls due. A single one does for ever."""
    if not is_done:
        current = _current(pengingat, now)
        dues = _said_done(pengingat, current, now)
        pengingat.done_from = pengingat.done_until = None
        for due in dues:
            for reopened in ledger.reopen(pengingat.id, due.at):
                stock.settle(pengingat, reopened)
                if reopened.slot in {each.slot for each in dues}:
                    _tell(pengingat, reopened, now)
        if current:
            _count_done(pengingat, current[-1].occurrence, is_done=False)
        return
    dues = _current(pengingat, now)
    if dues:
        _count_done(pengingat, dues[-1].occurrence, is_done=True)
    else:
        pengingat.done_from, pengingat.done_until = None, NEVER
    outbox.cancel(occurrences.subject(pengingat.id))
    # One that lies beyond the horizon has no row yet.
    for row in ledger.record([occurrences.entry(pengingat, due) for due in dues]):
        if answered := ledger.answer(row.id, State.DONE, now, via):
            _settle(pengingat, answered, now)
    if not pengingat.schedule.repeats:
        ledger.void(pengingat.id)


def _current(pengingat: Pengingat, now: datetime) -> list[Due]:
    """What a person means who says "done" now: several where slots fall on one moment."""
    schedule = pengingat.schedule
    if not schedule.repeats:
        notices = schedule.dues(pengingat.active_from, NEVER)
        told = [due for due in notices if due.at <= now + AHEAD]
        return told[-1:] or notices[:1]
    current = schedule.current_occurrence(pengingat.active_from, now)
    return schedule.dues(current - timedelta(seconds=1), current) if current else []


def _said_done(pengingat: Pengingat, current: list[Due], now: datetime) -> list[Due]:
    """What counts as done now; in the last hour before the next occurrence it is not the current one any more."""
    until = pengingat.done_until
    if until is None or not now < until < NEVER or (current and current[-1].occurrence < until):
        return current
    dues = pengingat.schedule.dues(max(pengingat.active_from, until - WEEK - MARGIN), until - timedelta(seconds=1))
    return [due for due in dues if due.at == dues[-1].at]
