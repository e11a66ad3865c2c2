"""History of a person's reminders: past occurrences, and counts of these occurrences by outcome.

An occurrence is one due time of a reminder. After 400 days only the counts of each day are stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, TypedDict
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from app.core.database.db_time import as_text
from app.core.database.session import AnySelect, db
from app.core.errors import ValidationFailed
from app.core.lib import local_time
from app.core.web.pagination import Listing, paginate
from app.pengingat.ledger import compaction, queries
from app.pengingat.ledger.schemas import DEFAULT_DAYS, MAX_DAYS, Days, HistoryQuery
from app.pengingat.models import Occurrence, OccurrenceState, Pengingat, occurrence_days, occurrences

KEYS = ("day", "reminder_id", "tipe", "judul")
COUNTS = ("due", "done", "skipped", "missed", "undelivered")
#: Margin between a local day and the same day in UTC. No time zone differs from UTC by more than this.
ZONES = timedelta(days=1)


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
    rows = occurrences.c
    return [rows.due_at.between(*_moments(start, end, now)), rows.day.between(start, end)]


def _moments(start: date, end: date, now: datetime) -> tuple[datetime, datetime]:
    """Return the earliest and the latest `due_at` that an occurrence on these days may have, in any time zone.

    The queries need these limits because the index contains `due_at` but not `day`.
    """
    first, last = (datetime.combine(day, time(), UTC) for day in (start, end))
    return first - ZONES, min(now, last + 2 * ZONES)


# --- sums -----------------------------------------------------------------------------------------------------------


def adherence(user_id: int, days: Days) -> Adherence:
    """Return counts of a person's occurrences by outcome: in total, by day and by reminder.

    The percentage ignores pending and undelivered occurrences. The function runs two SQL statements, or three if the
    range contains days more than 400 days ago.
    """
    now = local_time.now()
    known = db.session.execute(_reminders, {"user_id": user_id}).all()
    start, end = span(days, _latest_day(now, {row[3] for row in known}))
    first_at, last_at = _moments(start, end, now)
    which = {"user_id": user_id, "start": start, "end": end, "first_at": first_at, "last_at": last_at}
    rows = [*db.session.execute(_live_sums, which)]
    if _is_compacted(start, now):
        rows += db.session.execute(_kept_sums, which)
    by_day = [row for row in rows if row[5] is not None]
    sums = _sums(list(map(sum, zip(*(row[:5] for row in by_day), strict=True))) or [0] * 5)
    return {
        "start": start,
        "end": end,
        "percent": percent(sums),
        **sums,
        "days": _of_days(by_day, start, end),
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


def _is_compacted(start: date, now: datetime) -> bool:
    """Return whether a range that starts on this day may contain days of which only the counts are stored."""
    return start <= (now - timedelta(days=compaction.KEEP_DAYS) + ZONES).date()


#: Query of the counts by outcome, and the columns for its GROUP BY.
Source = tuple[AnySelect, list[Any]]


def _live(user_id: object, start: object, end: object, first_at: object, last_at: object) -> Source:
    rows = occurrences.c
    which = (rows.due_at.between(first_at, last_at), rows.day.between(start, end), rows.state != OccurrenceState.VOID)
    return sa.select(*compaction.counts(rows)).where(rows.user_id == user_id, *which), [rows[name] for name in KEYS]


def _kept(user_id: object, start: object, end: object) -> Source:
    rows = occurrence_days.c
    sums = sa.select(*(sa.cast(sa.func.sum(rows[name]), sa.BigInteger).label(name) for name in COUNTS))
    return sums.where(rows.user_id == user_id, rows.day.between(start, end)), [rows[name] for name in KEYS]


def _grouped(source: Source) -> AnySelect:
    """Return one statement with two kinds of rows: the counts of each day, and the counts of each reminder.

    The statement returns days as text.
    """
    sums, (day, *keys) = source
    by_both = sa.func.grouping_sets(sa.tuple_(day), sa.tuple_(*keys))
    return sums.add_columns(as_text(day), *keys).group_by(by_both)


_user_id = sa.bindparam("user_id", type_=sa.BigInteger)
_days = (sa.bindparam("start", type_=sa.Date), sa.bindparam("end", type_=sa.Date))
_bounds = (sa.bindparam(name, type_=sa.DateTime(timezone=True)) for name in ("first_at", "last_at"))
_live_sums = _grouped(_live(_user_id, *_days, *_bounds))
_kept_sums = _grouped(_kept(_user_id, *_days))
_reminders = (
    sa.select(Pengingat.id, Pengingat.judul, Pengingat.tipe, Pengingat.timezone)
    .where(Pengingat.user_id == _user_id)
    .order_by(Pengingat.id.desc())
)


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
    sums: dict[str, Sequence[int]] = {}
    for row in rows:
        sums[row[5]] = _added(sums.get(row[5]), row)
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
