"""Reminders of one person: a change and what it means for the outbox are one transaction."""

from __future__ import annotations

from datetime import date, datetime
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from app.core.database import clock as database_clock
from app.core.database.session import db
from app.core.errors import ValidationFailed
from app.core.lib import clock
from app.core.web.pagination import Listing, paginate
from app.identity import consents, users
from app.identity.consents import Purpose
from app.notifications import outbox
from app.pengingat.caregiving import alerts
from app.pengingat.details_schemas import load_details
from app.pengingat.ledger import answers, queries, statements, stock, upcoming
from app.pengingat.ledger.queries import Held
from app.pengingat.models import AnsweredVia, Pengingat
from app.pengingat.schemas import NO_WAKTU, NewPengingat, PengingatChanges, Query, StockAddition
from app.pengingat.timetable import limits
from app.pengingat.timetable.plans import says_when, schedule_of, with_first_day
from app.pengingat.timetable.schedule import Schedule
from app.pengingat.timetable.tipe import Details, Tipe

#: A change of one of these is a change of the schedule.
SCHEDULING = frozenset({"tipe", "waktu", "timezone", "details"})

#: What a calendar holds; arithmetic around it must not fall off the edge.
EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=clock.JAKARTA), datetime(9000, 1, 1, tzinfo=clock.JAKARTA)


def list_all(user_id: int, query: Query) -> Listing[Pengingat]:
    """A person's reminders, newest first."""
    rows = sa.select(Pengingat).where(Pengingat.user_id == user_id).order_by(Pengingat.id.desc())
    if query.tipe is not None:
        rows = rows.where(Pengingat.tipe == query.tipe)
    if query.is_done is not None:
        rows = rows.where(queries.is_done(done=query.is_done, now=clock.now()))
    page = query.page
    if query.date is None:
        return paginate(rows, page)
    found = [pengingat for pengingat in db.session.scalars(rows) if _occurs_on(pengingat, query.date)]
    return Listing(found[page.offset : page.offset + page.size], len(found), page)


def _occurs_on(pengingat: Pengingat, day: date) -> bool:
    """Whether a reminder has an occurrence on a day of its own zone, from the day on which its schedule was set."""
    schedule = pengingat.schedule
    is_set = not schedule.repeats or pengingat.active_from.astimezone(schedule.zone).date() <= day
    return is_set and schedule.occurs_on(day)


def get(user_id: int, pengingat_id: int) -> Pengingat:
    """A person's own reminder; `NotFound` for a stranger's."""
    return queries.find(user_id, pengingat_id)


def create(user_id: int, data: NewPengingat) -> Pengingat:
    """A new reminder, its occurrences of the next 36 hours already in the outbox. `TooManyReminders` beyond the limits.

    Here as below the person is locked before the reminder, as by whoever deletes them.
    """
    users.lock_own(user_id)
    consents.check(user_id, Purpose.HEALTH_DATA)
    now = database_clock.now()
    waktu = data.get("waktu")
    pengingat = Pengingat(
        user_id=user_id,
        tipe=data["tipe"],
        judul=data["judul"],
        timezone=data["timezone"],
        details=_details(data["tipe"], data["details"], None, data["timezone"], now),
        planned_until=now,
    )
    schedule = _schedule(pengingat.tipe, pengingat.details, waktu, pengingat.timezone, now)
    fallen = queries.count_fallen(user_id, now.astimezone(schedule.zone).date(), now)
    limits.check_new(queries.open_schedules(user_id).values(), schedule, fallen, now)
    _set_schedule(pengingat, schedule, waktu, now)
    stock.track(pengingat, now)
    db.session.add(pengingat)
    db.session.flush()
    _plan(pengingat, now)
    return pengingat


def update(user_id: int, pengingat_id: int, changes: PengingatChanges, via: AnsweredVia = AnsweredVia.APP) -> Pengingat:
    """Change what is sent. A client that sends the whole record back changes nothing.

    Deliveries say what holds when they leave, so only a new schedule plans them anew.
    """
    users.lock_own(user_id)
    consents.check(user_id, Purpose.HEALTH_DATA)
    pengingat, now = queries.locked(user_id, pengingat_id)
    held = Held({pengingat.id: pengingat}, now)
    was_done, before = pengingat.is_done, pengingat.open_schedule
    is_replanned = _reschedule(pengingat, changes, now) if SCHEDULING & changes.keys() else False
    if "judul" in changes:
        pengingat.judul = changes["judul"]
        statements.rename(pengingat_id, changes["judul"], now)
    # Said alone it is of the occurrence of this moment; beside other fields it may merely be the record sent back.
    is_marked = "is_done" in changes and (changes["is_done"] != was_done or changes.keys() == {"is_done"})
    if is_replanned or is_marked:
        # Only what is still to come is cancelled and planned anew. What is due and merely late goes out.
        outbox.cancel_occurrences(statements.coming(pengingat_id, now))
    if is_marked:
        answers.mark(held, pengingat, is_done=changes["is_done"], via=via)
    after = pengingat.open_schedule
    if after is not None and after != before:
        others = queries.open_schedules(user_id).items()
        fallen = queries.count_fallen(user_id, now.astimezone(after.zone).date(), now)
        limits.check_day([each for id_, each in others if each and id_ != pengingat_id], before, after, fallen, now)
    db.session.flush()
    if is_replanned or is_marked:
        _plan(pengingat, now)
    return pengingat


def delete(user_id: int, pengingat_id: int) -> None:
    users.lock_own(user_id)
    pengingat, _ = queries.locked(user_id, pengingat_id)
    outbox.cancel(upcoming.about(pengingat_id))
    statements.void(pengingat_id)
    db.session.delete(pengingat)


def pause(user_id: int) -> None:
    """Ask a person nothing any more; who comes back is asked again from then on. Their row is locked.

    The clock plans nothing for somebody who has asked to be erased, and passes over the time until they come back. Who
    had withdrawn health data before is asked nothing then either.
    """
    now = database_clock.now()
    db.session.execute(
        sa.update(Pengingat)
        .where(
            Pengingat.user_id == user_id,
            Pengingat.planned_until > now,
            ~consents.is_withdrawn(user_id, Purpose.HEALTH_DATA),
        )
        .values(planned_until=now, updated_at=Pengingat.updated_at)
        .execution_options(synchronize_session=False)
    )
    statements.void_all(user_id)
    alerts.forget(user_id)


def add_stock(user_id: int, pengingat_id: int, data: StockAddition) -> Pengingat:
    """Add to what is left of a medicine."""
    users.lock_own(user_id)
    pengingat, now = queries.locked(user_id, pengingat_id)
    consents.check(user_id, Purpose.HEALTH_DATA)
    stock.add(pengingat, data["tambah"], now)
    db.session.flush()
    return pengingat


def _reschedule(pengingat: Pengingat, changes: PengingatChanges, now: datetime) -> bool:
    """Follow what decides when a reminder is sent. Return whether its deliveries are to be planned anew."""
    tipe, zone = changes.get("tipe", pengingat.tipe), changes.get("timezone", pengingat.timezone)
    course = pengingat.schedule if "durasi_hari" in pengingat.details else None
    details = _details(tipe, changes.get("details", pengingat.details), course, zone, now)
    was_derived = pengingat.start == _first(pengingat.schedule, pengingat.active_from)
    start = changes.get("waktu", None if was_derived and says_when(tipe, details) else pengingat.start)
    before = _read_again(pengingat, now)
    after = _schedule(tipe, details, start, zone, now)
    again_before, tipe_before = pengingat.details.get(upcoming.AGAIN_FIELD), pengingat.tipe
    pengingat.tipe, pengingat.timezone, pengingat.details = tipe, zone, details
    if before != after:
        _set_schedule(pengingat, after, start, now)
        outbox.cancel(upcoming.about(pengingat.id), [upcoming.KIND])
        statements.void(pengingat.id)
    elif tipe != Tipe.OBAT and start is not None:
        pengingat.start = start
    stock.track(pengingat, now)
    return before != after or (again_before, tipe_before) != (details.get(upcoming.AGAIN_FIELD), tipe)


def _details(tipe: str, sent: Details, course: Schedule | None, zone: str, now: datetime) -> Details:
    details = load_details(tipe, sent)
    return with_first_day(details, course, ZoneInfo(zone), now) if tipe == Tipe.OBAT else details


def _read_again(pengingat: Pengingat, now: datetime) -> Schedule | None:
    """The schedule as its details mean it on this day: a zone's summer time between then and now is no change of the
    person's. None for what was kept beside the known fields before it was one of them, and does not fit."""
    try:
        details = load_details(pengingat.tipe, pengingat.details)
    except ValidationFailed:
        return None
    return _schedule(pengingat.tipe, details, pengingat.start, pengingat.timezone, now)


def _schedule(tipe: str, details: Details, start: datetime | None, zone: str, now: datetime) -> Schedule:
    if start is None and not says_when(tipe, details):
        raise ValidationFailed({"waktu": [NO_WAKTU]})
    schedule = schedule_of(tipe, details, start, ZoneInfo(zone), now)
    for moment in (start, schedule.once):
        if moment is not None and not EARLIEST < moment < LATEST:
            raise ValidationFailed({"waktu": ["di luar jangkauan."]})
    return schedule


def _set_schedule(pengingat: Pengingat, schedule: Schedule, start: datetime | None, now: datetime) -> None:
    is_sent = start is not None and pengingat.tipe != Tipe.OBAT
    pengingat.plan = schedule.as_json()
    pengingat.start = (start if is_sent else _first(schedule, now)) or now
    pengingat.active_from = now
    pengingat.done_from = pengingat.done_until = None


def _first(schedule: Schedule, after: datetime) -> datetime | None:
    """What `waktu` is where nobody sent it."""
    return schedule.once or schedule.next_occurrence(after)


def _plan(pengingat: Pengingat, now: datetime) -> None:
    upcoming.plan([upcoming.Extension(pengingat, now)], now)
    db.session.flush()
