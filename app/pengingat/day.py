"""List of a person's occurrences on one day, for the main page of a client.

An occurrence is one due time of a reminder. Occurrences of the past and of the near future are rows of the ledger, the
table `occurrences`. Later occurrences are computed from the schedules.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import TypedDict
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from app.core.database.session import db
from app.core.errors import ValidationFailed
from app.core.lib import local_time
from app.pengingat.ledger import statements, upcoming
from app.pengingat.models import Occurrence, OccurrenceState, Pengingat, occurrences
from app.pengingat.outgoing import texts
from app.pengingat.timetable.schedule import AHEAD, DAY, Due, moment_of

MAX_ROWS = 100
#: How far the requested day may be in the past.
MAX_BACK = 92 * DAY

#: Columns of a reminder that are needed to compute its future occurrences and its texts.
_REMINDER = ("id", "tipe", "judul", "timezone", "details", "first_at", "planned_until", "done_from", "done_until")
_user_id = sa.bindparam("of_user", type_=sa.BigInteger)
_reminders = sa.select(*(Pengingat.__table__.c[name] for name in _REMINDER)).where(Pengingat.user_id == _user_id)

_rows, _later = occurrences.c, occurrences.alias("later")
_next_has_fallen_due = sa.exists().where(
    _later.c.reminder_id == _rows.reminder_id,
    _later.c.due_at > _rows.due_at,
    _later.c.due_at <= sa.bindparam("now", type_=sa.DateTime(timezone=True)),
    _later.c.state != OccurrenceState.VOID,
)
_moments = [sa.bindparam(name, type_=sa.DateTime(timezone=True)) for name in ("from", "until")]
_days = [sa.bindparam(name, type_=sa.Date) for name in ("first", "last")]
_recorded = (
    sa.select(*_rows, _next_has_fallen_due)
    .where(
        _rows.user_id == _user_id,
        # The condition on `day` alone would be enough. This condition lets PostgreSQL use the index, which contains
        # `due_at` but not `day`.
        _rows.due_at.between(_moments[0], _moments[1]),
        _rows.day.between(_days[0], _days[1]),
        _rows.state != OccurrenceState.VOID,
    )
    .order_by(_rows.due_at, _rows.reminder_id, _rows.slot)
    .limit(3 * MAX_ROWS)  # without a date, `list_doses` reads yesterday, today and tomorrow
)


class Dose(TypedDict):
    pengingat_id: int | None
    tipe: str
    judul: str
    what: str
    slot: str
    due_at: datetime
    local_time: str
    state: str
    late: bool
    answered_at: datetime | None
    answered_via: str | None
    snoozed_until: datetime | None
    undelivered: bool
    can_answer: bool


def list_doses(user_id: int, day: date | None) -> list[Dose]:
    """Return a person's occurrences on a day, in order of time. The default day is today.

    A day begins at midnight in the time zone of each reminder. Raise `ValidationFailed` if the day is more than 92 days
    back or after tomorrow.
    """
    now = local_time.now()
    rows = db.session.execute(_reminders, {"of_user": user_id}).all()
    known = {row[0]: Pengingat(**dict(zip(_REMINDER, row, strict=True))) for row in rows}
    _check(day, known, now)
    here = now.astimezone(UTC).date()
    first, last = (day, day) if day else (here - DAY, here + DAY)
    midnight = datetime.combine(first, time(), UTC)
    bounds = {"from": midnight - DAY, "until": midnight + (last - first) + 2 * DAY, "first": first, "last": last}
    recorded = db.session.execute(_recorded, {"of_user": user_id, "now": now, **bounds}).all()
    ledger = [(Occurrence(**dict(zip(_rows.keys(), row, strict=True))), is_closed) for *row, is_closed in recorded]
    found = [
        _dose(row, known.get(row.reminder_id or 0), now, is_closed=is_closed)
        for row, is_closed in ledger
        if row.day == (day or _today(row, known.get(row.reminder_id or 0), now))
    ]
    have_rows = {(row.reminder_id, row.due_at, row.slot) for row, _ in ledger}
    found += [
        _dose(row, pengingat, now, is_closed=True)
        for pengingat in known.values()
        for row in _beyond_the_ledger(pengingat, day or now.astimezone(pengingat.zone).date())
        if (pengingat.id, row.due_at, row.slot) not in have_rows
    ]
    return sorted(found, key=_order)[:MAX_ROWS]


def _check(day: date | None, known: dict[int, Pengingat], now: datetime) -> None:
    zones = {pengingat.zone for pengingat in known.values()} or {local_time.JAKARTA}
    todays = [now.astimezone(zone).date() for zone in zones]
    if day is not None and not min(todays) - MAX_BACK <= day <= max(todays) + DAY:
        raise ValidationFailed({"date": [f"dari {MAX_BACK.days} hari lalu sampai besok."]})


def _zone(row: Occurrence, pengingat: Pengingat | None) -> ZoneInfo:
    """Return the time zone in which the `day` of this ledger row was computed."""
    zone = row.timezone or (pengingat and pengingat.timezone)
    return ZoneInfo(zone) if zone else local_time.JAKARTA


def _today(row: Occurrence, pengingat: Pengingat | None, now: datetime) -> date:
    return now.astimezone(pengingat.zone if pengingat else _zone(row, pengingat)).date()


def _beyond_the_ledger(pengingat: Pengingat, day: date) -> Iterator[Occurrence]:
    """Yield the reminder's occurrences on this day that have no ledger row yet."""
    begin, end = (moment_of(each, time(), pengingat.zone) for each in (day, day + DAY))
    instant = timedelta(microseconds=1)
    for due in pengingat.schedule.dues(max(begin - instant, pengingat.planned_until), end - instant):
        if not pengingat.counts_as_done(due.occurrence):
            yield _unrecorded(pengingat, due)


def _unrecorded(pengingat: Pengingat, due: Due) -> Occurrence:
    return Occurrence(
        reminder_id=pengingat.id,
        tipe=pengingat.tipe,
        judul=pengingat.judul,
        slot=due.slot,
        due_at=due.at,
        timezone=pengingat.timezone,
        state=OccurrenceState.PENDING,
        undelivered=False,
    )


def _dose(row: Occurrence, pengingat: Pengingat | None, now: datetime, *, is_closed: bool) -> Dose:
    due = upcoming.due_of(row)
    return {
        "pengingat_id": row.reminder_id,
        "tipe": row.tipe,
        "judul": pengingat.judul if pengingat else row.judul,
        "what": texts.what(pengingat, due) if pengingat and pengingat.tipe == row.tipe else "",
        "slot": row.slot,
        "due_at": row.due_at,
        "local_time": f"{due.occurrence.astimezone(_zone(row, pengingat)):%H:%M}",
        "state": row.state,
        "late": row.late,
        "answered_at": row.answered_at,
        "answered_via": row.answered_via,
        "snoozed_until": row.snoozed_until,
        "undelivered": row.undelivered,
        "can_answer": _can_answer(row, now, is_closed=is_closed),
    }


def _can_answer(row: Occurrence, now: datetime, *, is_closed: bool) -> bool:
    """Return whether an answer with the status `done` would change this occurrence now.

    `is_closed` is true if the reminder's next occurrence is due, or if this occurrence has no ledger row.
    """
    if row.id is None or row.reminder_id is None or row.due_at > now + AHEAD:
        return False
    return statements.may_become(row, OccurrenceState.DONE, (), now) and not (
        row.state == OccurrenceState.MISSED and is_closed
    )


def _order(dose: Dose) -> tuple[datetime, bool, int, str]:
    return dose["due_at"], dose["pengingat_id"] is None, dose["pengingat_id"] or 0, dose["slot"]
