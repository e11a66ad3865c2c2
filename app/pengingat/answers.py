"""What a person says of an occurrence, whichever way it comes, and what follows from it for the reminder."""

from __future__ import annotations

from datetime import datetime, timedelta

from app.notifications import outbox
from app.pengingat import ledger, occurrences
from app.pengingat.models import AnsweredVia, Pengingat, State
from app.pengingat.occurrences import NEVER
from app.pengingat.schedule import AHEAD, Due


def mark(pengingat: Pengingat, *, is_done: bool, now: datetime) -> None:
    """Done: the current occurrence is quiet until the next one falls due. Of a single one that is for ever."""
    dues = _current(pengingat, now)
    if not is_done:
        pengingat.done_until = None
        for due in dues:
            ledger.reopen(pengingat.id, due.at)
        return
    pengingat.done_until = _quiet_until(pengingat, dues[-1].occurrence if dues else None)
    outbox.cancel(occurrences.subject(pengingat.id))
    # One that lies beyond the horizon has no row yet.
    for row in ledger.record([occurrences.entry(pengingat, due) for due in dues]):
        ledger.answer(row.id, State.DONE, now, AnsweredVia.APP)
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


def _quiet_until(pengingat: Pengingat, occurrence: datetime | None) -> datetime:
    schedule = pengingat.schedule
    following = schedule.next_occurrence(occurrence) if occurrence and schedule.repeats else None
    return following or NEVER
