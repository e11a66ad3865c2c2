"""Reminders of one person: a change and what it means for the outbox are one transaction."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from app.core.database import clock as database_clock
from app.core.database.session import db
from app.core.errors import NotFound, ValidationFailed
from app.core.lib import clock
from app.core.web.pagination import Listing, Page, paginate
from app.identity.models import User
from app.notifications import outbox
from app.pengingat import occurrences
from app.pengingat.models import Reminder, Tipe
from app.pengingat.plans import schedule_of
from app.pengingat.schedule import Schedule
from app.pengingat.schemas import load_details

#: A change of one of these is a change of the schedule.
SCHEDULING = frozenset({"tipe", "waktu", "timezone", "details"})

MISSING = "Pengingat tidak ditemukan."

#: What a calendar holds; arithmetic around it must not fall off the edge.
EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=clock.JAKARTA), datetime(9000, 1, 1, tzinfo=clock.JAKARTA)


def list_reminders(user_id: int, page: Page, tipe: str | None = None) -> Listing[Reminder]:
    query = sa.select(Reminder).where(Reminder.user_id == user_id).order_by(Reminder.id.desc())
    return paginate(query.where(Reminder.tipe == tipe) if tipe else query, page)


def reminder_of(user_id: int, reminder_id: int) -> Reminder:
    """A person's own reminder; a stranger's is no record."""
    return _own(sa.select(Reminder), user_id, reminder_id)


def create(
    user_id: int,
    *,
    tipe: str,
    judul: str,
    timezone: str,
    details: dict[str, Any],
    waktu: datetime | None = None,
) -> Reminder:
    now = database_clock.now()
    details = load_details(tipe, details)
    reminder = Reminder(user_id=user_id, tipe=tipe, judul=judul, timezone=timezone, details=details, planned_until=now)
    _set_schedule(reminder, _schedule(tipe, details, waktu, timezone, now), waktu, now)
    db.session.add(reminder)
    db.session.flush()
    _plan(reminder, now)
    return reminder


def change(user_id: int, reminder_id: int, changes: dict[str, Any]) -> Reminder:
    """Change what is sent; pending deliveries follow. A client that sends the whole record back changes nothing."""
    now = database_clock.now()
    reminder = _locked(user_id, reminder_id)
    was_done = reminder.is_done
    if SCHEDULING & changes.keys():
        _reschedule(reminder, changes, now)
    if "judul" in changes:
        reminder.judul = changes["judul"]
    # Whatever changed, only what is still to come is taken back here and planned anew; what is merely late goes out.
    outbox.cancel(occurrences.subject(reminder_id), due_after=now)
    if changes.get("is_done", was_done) != was_done:
        _mark(reminder, is_done=not was_done, now=now)
    db.session.flush()
    _plan(reminder, now)
    return reminder


def delete(user_id: int, reminder_id: int) -> None:
    reminder = _locked(user_id, reminder_id)
    outbox.cancel(occurrences.subject(reminder_id))
    db.session.delete(reminder)


def _own(query: sa.Select[Reminder], user_id: int, reminder_id: int) -> Reminder:
    row = db.session.scalar(query.where(Reminder.id == reminder_id, Reminder.user_id == user_id))
    if row is None:
        raise NotFound(MISSING)
    return row


def _locked(user_id: int, reminder_id: int) -> Reminder:
    """With its row held, so that the clock's topping up comes before or after this change, never in between."""
    return _own(sa.select(Reminder).with_for_update().execution_options(populate_existing=True), user_id, reminder_id)


def _reschedule(reminder: Reminder, changes: dict[str, Any], now: datetime) -> None:
    tipe, zone = changes.get("tipe", reminder.tipe), changes.get("timezone", reminder.timezone)
    start = changes.get("waktu", reminder.start)
    details = load_details(tipe, changes.get("details", reminder.details))
    # Both read on this day: a zone's summer time between then and now is no change of the person's.
    before = _schedule(reminder.tipe, reminder.details, reminder.start, reminder.timezone, now)
    after = _schedule(tipe, details, start, zone, now)
    reminder.tipe, reminder.timezone, reminder.details = tipe, zone, details
    if before != after:
        _set_schedule(reminder, after, start, now)
        outbox.cancel(occurrences.subject(reminder.id))
    elif tipe != Tipe.OBAT:
        reminder.start = start


def _schedule(tipe: str, details: dict[str, Any], start: datetime | None, zone: str, now: datetime) -> Schedule:
    schedule = schedule_of(tipe, details, start, ZoneInfo(zone), now)
    for moment in (start, schedule.once):
        if moment is not None and not EARLIEST < moment < LATEST:
            raise ValidationFailed({"waktu": ["di luar jangkauan."]})
    return schedule


def _set_schedule(reminder: Reminder, schedule: Schedule, start: datetime | None, now: datetime) -> None:
    next_dose = schedule.next_occurrence(now) if reminder.tipe == Tipe.OBAT else None
    reminder.plan = schedule.as_json()
    reminder.start = next_dose or start or now
    reminder.active_from = now
    reminder.done_until = None


def _mark(reminder: Reminder, *, is_done: bool, now: datetime) -> None:
    """Done: the current occurrence is quiet until the next one falls due. Of a single one that is for ever."""
    if not is_done:
        reminder.done_until = None
        return
    schedule = reminder.schedule
    current = schedule.current_occurrence(reminder.active_from, now)
    following = schedule.next_occurrence(current) if current and schedule.repeats else None
    reminder.done_until = following or occurrences.NEVER
    outbox.cancel(occurrences.subject(reminder.id))


def _plan(reminder: Reminder, now: datetime) -> None:
    name = db.session.scalar(sa.select(User.nama_ktp).where(User.id == reminder.user_id)) or ""
    outbox.add_all(occurrences.extend(reminder, name, after=now, now=now))
    db.session.flush()
