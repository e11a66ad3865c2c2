"""History of a person's reminders: past occurrences, and counts of these occurrences by outcome.

An occurrence is one due time of a reminder.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, TypedDict
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from app.core.database.db_time import as_text
from app.core.database.session import db
from app.core.errors import ValidationFailed
from app.core.lib import local_time
from app.core.web.pagination import Listing, paginate
from app.pengingat.ledger import queries
from app.pengingat.ledger.schemas import DEFAULT_DAYS, MAX_DAYS, Days, HistoryQuery
from app.pengingat.models import Occurrence, OccurrenceState, Pengingat, occurrences

COUNTS = ("due", "done", "skipped", "missed", "undelivered")
#: Margin between a local day and the same day in UTC. No time zone differs from UTC by more than this.
ZONES = timedelta(days=1)

_rows = occurrences.c


class Sums(TypedDict):
    due: int
    done: int
    skipped: int
    missed: int
    undelivered: int


class SumsOfDay(Sums):
    date: date


class SumsOfPengingat(Sums):
    id: int | None
    judul: str
    tipe: str


class Adherence(Sums):
    start: date
    end: date
    percent: float | None
    days: list[SumsOfDay]
    reminders: list[SumsOfPengingat]


def list_all(user_id: int, query: HistoryQuery) -> Listing[Occurrence]:
    """Return past occurrences of a person, newest first. Occurrences of deleted reminders are included."""
    return _list(query, user_id, Occurrence.user_id == user_id)


def list_of(user_id: int, pengingat_id: int, query: HistoryQuery) -> Listing[Occurrence]:
    """Return past occurrences of one reminder, newest first. Raise `NotFound` for the reminder of another person."""
    queries.get_own(user_id, pengingat_id)
    return _list(query, user_id, Occurrence.reminder_id == pengingat_id)


def _list(query: HistoryQuery, user_id: int, whose: sa.ColumnElement[bool]) -> Listing[Occurrence]:
    now = local_time.now()
    start, end = span(query.days, _today(user_id, now))
    rows = sa.select(Occurrence).where(whose, *_within(start, end, now))
    rows = rows.where(Occurrence.state == query.state if query.state else Occurrence.state != OccurrenceState.VOID)
    if query.tipe:
        rows = rows.where(Occurrence.tipe == query.tipe)
    return paginate(rows.order_by(Occurrence.due_at.desc(), Occurrence.id.desc()), query.page)


def span(days: Days, today: date) -> tuple[date, date]:
    """Return the first and last requested day. The default is the 30 days that end today.

    Raise `ValidationFailed` if there are more than 92 days.
    """
    end = days.end or max(today, days.start or today)
    start = days.start or end - timedelta(days=DEFAULT_DAYS - 1)
    if (end - start).days >= MAX_DAYS:
        raise ValidationFailed({"start": [f"maksimal {MAX_DAYS} hari."]})
    return start, end


def _today(user_id: int, now: datetime) -> date:
    zones = sa.select(Pengingat.timezone).where(Pengingat.user_id == user_id).distinct()
    return _latest_day(now, db.session.scalars(zones))


def _latest_day(now: datetime, zones: Iterable[str]) -> date:
    """Return today's date in these time zones. If the dates differ, return the latest. The default zone is Jakarta."""
    return max(
        (now.astimezone(ZoneInfo(zone)).date() for zone in zones), default=now.astimezone(local_time.JAKARTA).date()
    )


def _within(start: date, end: date, now: datetime) -> list[sa.ColumnElement[bool]]:
    """Return SQL conditions for past occurrences on these days, in the time zone of each reminder."""
    # The condition on `due_at` is for the index, which contains `due_at` but not `day`.
    first, last = (datetime.combine(day, time(), UTC) for day in (start, end))
    return [_rows.due_at.between(first - ZONES, min(now, last + 2 * ZONES)), _rows.day.between(start, end)]


# --- sums -----------------------------------------------------------------------------------------------------------

_is_missed = _rows.state == OccurrenceState.MISSED


def _count(*which: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
    return sa.func.count().filter(*which)


_keys = (_rows.reminder_id, _rows.tipe, _rows.judul)
#: Query with two kinds of rows: the counts (in the order of `COUNTS`) of each day, and those of each reminder. It
#: returns days as text.
_counts = (
    sa.select(
        _count(),
        _count(_rows.state == OccurrenceState.DONE),
        _count(_rows.state == OccurrenceState.SKIPPED),
        _count(_is_missed, ~_rows.undelivered),
        _count(_is_missed, _rows.undelivered),
        as_text(_rows.day),
        *_keys,
    )
    .where(_rows.state != OccurrenceState.VOID)
    .group_by(sa.func.grouping_sets(sa.tuple_(_rows.day), sa.tuple_(*_keys)))
)
_reminders = sa.select(Pengingat.id, Pengingat.judul, Pengingat.tipe, Pengingat.timezone)


def adherence(user_id: int, days: Days) -> Adherence:
    """Return counts of a person's occurrences by outcome: in total, by day and by reminder.

    The percentage ignores pending and undelivered occurrences. The function runs two SQL statements.
    """
    now = local_time.now()
    known = db.session.execute(_reminders.where(Pengingat.user_id == user_id)).all()
    start, end = span(days, _latest_day(now, {row[3] for row in known}))
    rows = db.session.execute(_counts.where(_rows.user_id == user_id, *_within(start, end, now))).all()
    of_days = _of_days([row for row in rows if row[5] is not None], start, end)
    sums = total(of_days)
    return {
        "start": start,
        "end": end,
        "percent": percent(sums),
        **sums,
        "days": of_days,
        "reminders": _of_reminders([row for row in rows if row[5] is None], {row[0]: row[1:3] for row in known}),
    }


def percent(sums: Sums) -> float | None:
    """Return how many percent of the done, skipped and missed occurrences are done, with one decimal.

    Return None if there are no done, skipped or missed occurrences.
    """
    judged = sums["done"] + sums["skipped"] + sums["missed"]
    if not judged:
        return None
    return (2000 * sums["done"] + judged) // (2 * judged) / 10


def total(rows: Iterable[Mapping[Any, Any]]) -> Sums:
    rows = list(rows)
    return _sums([sum(row[name] for row in rows) for name in COUNTS])


def _sums(counts: Sequence[int]) -> Sums:
    due, done, skipped, missed, undelivered = counts
    return {"due": due, "done": done, "skipped": skipped, "missed": missed, "undelivered": undelivered}


#: Row with five counts by outcome, then the day or None, then the id, type and title of a reminder.
SumsRow = tuple[Any, ...]


def _of_days(rows: Iterable[SumsRow], start: date, end: date) -> list[SumsOfDay]:
    """Return the counts of every day from `start` to `end`. Days without occurrences have counts of 0."""
    sums = {row[5]: row[:5] for row in rows}
    days = (date.fromordinal(n) for n in range(start.toordinal(), end.toordinal() + 1))
    return [{"date": day, **_sums(sums.get(day.isoformat(), (0, 0, 0, 0, 0)))} for day in days]


def _of_reminders(rows: Iterable[SumsRow], titles: Mapping[int, Sequence[str]]) -> list[SumsOfPengingat]:
    """Return the counts of each reminder, the newest reminder first. Deleted reminders come last.

    `titles` has the present title and type of each reminder by id.
    """
    sums: dict[tuple[int | None, str, str], Sequence[int]] = {}
    for row in rows:
        id_, tipe, judul = row[6:]
        judul, tipe = titles.get(id_, (judul, tipe))
        key = (id_, tipe, judul)
        sums[key] = _added(sums.get(key), row)
    order = sorted(sums, key=lambda key: (0, *key[1:]) if key[0] is None else (-key[0], "", ""))
    return [{"id": key[0], "judul": key[2], "tipe": key[1], **_sums(sums[key])} for key in order]


def _added(sums: Sequence[int] | None, row: SumsRow) -> Sequence[int]:
    return row[:5] if sums is None else [one + other for one, other in zip(sums, row[:5], strict=True)]
