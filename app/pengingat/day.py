"""List of a person's occurrences on one day, for the main page of a client.

An occurrence is one due time of a reminder. The ledger (table `occurrences`) has the occurrences until tomorrow.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import TypedDict
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from app.core.database.session import db
from app.core.errors import ValidationFailed
from app.core.lib import local_time
from app.pengingat.ledger import rows, upcoming
from app.pengingat.models import Occurrence, OccurrenceState, Pengingat
from app.pengingat.outgoing import texts
from app.pengingat.timetable.schedule import AHEAD, DAY

MAX_ROWS = 100
#: How far the requested day may be in the past, and how far in the future.
MAX_BACK, MAX_AHEAD = 92 * DAY, DAY


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
    back or later than tomorrow.
    """
    now = local_time.now()
    of_person = sa.select(Pengingat).where(Pengingat.user_id == user_id)
    known = {pengingat.id: pengingat for pengingat in db.session.scalars(of_person)}
    _check(day, known, now)
    here = now.astimezone(UTC).date()
    first, last = (day, day) if day else (here - DAY, here + DAY)
    midnight = datetime.combine(first, time(), UTC)
    recorded = (
        sa.select(Occurrence)
        .where(
            Occurrence.user_id == user_id,
            # The condition on `day` alone would be enough. This condition lets PostgreSQL use the index, which
            # contains `due_at` but not `day`.
            Occurrence.due_at.between(midnight - DAY, midnight + (last - first) + 2 * DAY),
            Occurrence.day.between(first, last),
            Occurrence.state != OccurrenceState.VOID,
        )
        .options(rows.WITH_NEXT)
        .order_by(Occurrence.due_at, Occurrence.reminder_id, Occurrence.slot)
        .limit(3 * MAX_ROWS)  # without a date, the query reads yesterday, today and tomorrow
    )
    found = ((row, known.get(row.reminder_id or 0)) for row in db.session.scalars(recorded))
    return [_dose(row, of, now) for row, of in found if row.day == (day or _today(row, of, now))][:MAX_ROWS]


def _check(day: date | None, known: dict[int, Pengingat], now: datetime) -> None:
    zones = {pengingat.zone for pengingat in known.values()} or {local_time.JAKARTA}
    todays = [now.astimezone(zone).date() for zone in zones]
    if day is not None and not min(todays) - MAX_BACK <= day <= max(todays) + MAX_AHEAD:
        raise ValidationFailed({"date": [f"dari {MAX_BACK.days} hari lalu sampai besok."]})


def _zone(row: Occurrence, pengingat: Pengingat | None) -> ZoneInfo:
    """Return the time zone in which the `day` of this ledger row was computed."""
    zone = row.timezone or (pengingat and pengingat.timezone)
    return ZoneInfo(zone) if zone else local_time.JAKARTA


def _today(row: Occurrence, pengingat: Pengingat | None, now: datetime) -> date:
    return now.astimezone(pengingat.zone if pengingat else _zone(row, pengingat)).date()


def _dose(row: Occurrence, pengingat: Pengingat | None, now: datetime) -> Dose:
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
        "can_answer": _can_answer(row, now),
    }


def _can_answer(row: Occurrence, now: datetime) -> bool:
    """Return whether an answer with the status `done` would change this occurrence now."""
    is_near = row.reminder_id is not None and row.due_at <= now + AHEAD
    return is_near and rows.may_become(row, OccurrenceState.DONE, now)
