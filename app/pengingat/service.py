"""Creation, change and deletion of reminders. Each change updates the queued messages in the same transaction."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from app.core.database import db_time
from app.core.database.session import db
from app.core.errors import ValidationFailed
from app.core.lib import local_time
from app.core.web.pagination import Listing, paginate
from app.identity import consents, users
from app.identity.consents import Purpose
from app.pengingat.ledger import answers, queries, rows, stock, upcoming
from app.pengingat.ledger.queries import LockedReminders
from app.pengingat.models import AnsweredVia, Pengingat, occurrences
from app.pengingat.schemas import NO_WAKTU, NewPengingat, PengingatChanges, Query, StockAddition, load_details
from app.pengingat.timetable import limits
from app.pengingat.timetable.schedule import Schedule
from app.pengingat.types.registry import TYPES

#: Fields of a reminder from which its schedule is computed.
SCHEDULING = frozenset({"tipe", "waktu", "timezone", "details"})

#: Earliest and latest accepted time of a reminder. Between these times, date arithmetic cannot
#: exceed the limits of `datetime`.
EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=local_time.JAKARTA), datetime(9000, 1, 1, tzinfo=local_time.JAKARTA)


def list_all(user_id: int, query: Query) -> Listing[Pengingat]:
    """Return a page of the person's reminders, newest first."""
    found = queries.shown(Pengingat.user_id == user_id).order_by(Pengingat.id.desc())
    if query.tipe is not None:
        found = found.where(Pengingat.tipe == query.tipe)
    return paginate(found, query.page)


def get(user_id: int, pengingat_id: int) -> Pengingat:
    """Return a reminder of this person. Raise `NotFound` if it belongs to somebody else."""
    return queries.get_own(user_id, pengingat_id)


def create(user_id: int, data: NewPengingat) -> Pengingat:
    """Create a reminder, and put its messages of the next 60 hours into the outbox.

    Raise `TooManyReminders` if the person would exceed a limit. All changes lock the person before the reminder. The
    deletion of a person takes its locks in the same order.
    """
    users.lock_own(user_id)
    consents.check(user_id, Purpose.HEALTH_DATA)
    now = db_time.now()
    pengingat = Pengingat(
        user_id=user_id,
        tipe=data["tipe"],
        judul=data["judul"],
        timezone=data["timezone"],
        details=load_details(data["tipe"], data["details"]),
        planned_until=now,
    )
    pengingat.type.set_wall_times(pengingat.details, pengingat.zone, now)
    waktu = data.get("waktu")
    schedule = _schedule(pengingat, waktu)
    schedules = [schedule, *_schedules_of_others(user_id)]
    limits.check_number(len(schedules))
    limits.check_day(schedules, now)
    _set_schedule(pengingat, schedule, waktu, now)
    db.session.add(pengingat)
    db.session.flush()
    stock.follow(pengingat, now)
    _plan(pengingat, now)
    return pengingat


def update(user_id: int, pengingat_id: int, changes: PengingatChanges, via: AnsweredVia = AnsweredVia.APP) -> Pengingat:
    """Change the fields that the client sent. If the client sends the unchanged record back, nothing changes.

    Messages are planned again only if their times or `is_done` change. Other changes need no planning, because the text
    of a message is made when the message is sent.
    """
    users.lock_own(user_id)
    consents.check(user_id, Purpose.HEALTH_DATA)
    pengingat, now = queries.lock_own(user_id, pengingat_id)
    held = LockedReminders({pengingat.id: pengingat}, now)
    was_done, before = pengingat.is_done, pengingat.open_schedule
    is_replanned = _reschedule(pengingat, changes, now) if SCHEDULING & changes.keys() else False
    if "judul" in changes:
        pengingat.judul = changes["judul"]
        rows.rename(pengingat_id, changes["judul"], now)
    if is_replanned:
        upcoming.replan(pengingat, now)
    # If the client sends only `is_done`, this field answers the current occurrence. If the client sends other fields
    # too, it may have sent the whole record back. Then `is_done` is ignored unless its value has changed.
    is_marked = "is_done" in changes and (changes["is_done"] != was_done or changes.keys() == {"is_done"})
    if is_marked and (changes["is_done"] or was_done):
        answers.mark(held, pengingat, is_done=changes["is_done"], via=via)
    after = pengingat.open_schedule
    if limits.on_busiest_day(after, now) > limits.on_busiest_day(before, now):
        limits.check_day([after, *_schedules_of_others(user_id, pengingat_id)], now)
    db.session.flush()
    if is_replanned or is_marked:
        db.session.expire(pengingat, ["is_done"])
    return pengingat


def delete(user_id: int, pengingat_id: int) -> None:
    users.lock_own(user_id)
    pengingat, _ = queries.lock_own(user_id, pengingat_id)
    rows.void(occurrences.c.reminder_id == pengingat_id)
    db.session.delete(pengingat)


def pause(user_id: int) -> None:
    """Cancel the pending occurrences of a person who requested erasure.

    The caller must have locked the person's row. If the person cancels the erasure, occurrences are planned again. If
    the person has withdrawn the consent to health data, no occurrences are planned.
    """
    now = db_time.now()
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
    rows.void(occurrences.c.user_id == user_id, occurrences.c.due_at > now)


def add_stock(user_id: int, pengingat_id: int, data: StockAddition) -> Pengingat:
    """Add a purchase to the stock of a medicine. Raise `StockNotTracked` if the reminder has no stock."""
    users.lock_own(user_id)
    pengingat, now = queries.lock_own(user_id, pengingat_id)
    consents.check(user_id, Purpose.HEALTH_DATA)
    stock.add(pengingat, data["tambah"], now)
    db.session.flush()
    return pengingat


def _reschedule(pengingat: Pengingat, changes: PengingatChanges, now: datetime) -> bool:
    """Apply the changed fields of `SCHEDULING`. Return whether the messages must be planned again."""
    tipe, zone = changes.get("tipe", pengingat.tipe), changes.get("timezone", pengingat.timezone)
    before, again_before, tipe_before = (
        pengingat.schedule,
        pengingat.type.again_after(pengingat.details),
        pengingat.tipe,
    )
    is_kept = (tipe, zone) == (pengingat.tipe, pengingat.timezone)
    details = load_details(tipe, changes.get("details", pengingat.details))
    TYPES[tipe].set_wall_times(details, ZoneInfo(zone), now, pengingat.details if is_kept else None)
    was_derived = pengingat.first_at == _first(before, pengingat.active_from)
    pengingat.tipe, pengingat.timezone, pengingat.details = tipe, zone, details
    is_derived = was_derived and pengingat.type.has_times(details)
    start = changes.get("waktu", None if is_derived else pengingat.first_at)
    after = _schedule(pengingat, start)
    if before != after:
        _set_schedule(pengingat, after, start, now)
    elif not pengingat.type.shows_next_time and start is not None:
        pengingat.first_at = start
    stock.follow(pengingat, now)
    return before != after or (again_before, tipe_before) != (pengingat.type.again_after(details), tipe)


def _schedules_of_others(user_id: int, pengingat_id: int | None = None) -> list[Schedule | None]:
    """Return the schedules of the person's other reminders, with None for a permanently done reminder."""
    query = sa.select(Pengingat).where(Pengingat.user_id == user_id, Pengingat.id.is_distinct_from(pengingat_id))
    return [each.open_schedule for each in db.session.scalars(query)]


def _schedule(pengingat: Pengingat, start: datetime | None) -> Schedule:
    """Return the schedule of the reminder's new details. `start` is the field `waktu`, if any."""
    if start is None and not pengingat.type.has_times(pengingat.details):
        raise ValidationFailed({"waktu": [NO_WAKTU]})
    schedule = pengingat.type.schedule(pengingat.details, start, pengingat.zone)
    for moment in (start, schedule.single_at):
        if moment is not None and not EARLIEST < moment < LATEST:
            raise ValidationFailed({"waktu": ["di luar jangkauan."]})
    return schedule


def _set_schedule(pengingat: Pengingat, schedule: Schedule, start: datetime | None, now: datetime) -> None:
    is_sent = start is not None and not pengingat.type.shows_next_time
    pengingat.first_at = (start if is_sent else _first(schedule, now)) or now
    pengingat.active_from = now
    pengingat.is_finished = False


def _first(schedule: Schedule, after: datetime) -> datetime | None:
    """Return the default of `waktu` (the time of the reminder) for a request without this field."""
    return schedule.single_at or schedule.next_occurrence(after)


def _plan(pengingat: Pengingat, now: datetime) -> None:
    upcoming.plan([upcoming.Extension(pengingat, now)], now)
    db.session.flush()
