"""A person's history: the occurrences that have fallen due, and what they sum up to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, TypedDict
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from app.core.database.session import AnySelect, autocommit
from app.core.errors import ValidationFailed
from app.core.lib import clock
from app.core.web.pagination import Listing, paginate
from app.pengingat import ledger, own
from app.pengingat.ledger_schemas import DEFAULT_DAYS, MOST_DAYS, Days, HistoryQuery
from app.pengingat.models import Occurrence, Pengingat, State, occurrence_days, occurrences

KEYS = ("day", "reminder_id", "tipe", "judul")
COUNTS = ("due", "done", "skipped", "missed", "undelivered")
#: By so much a day of any zone reaches beyond the same day of UTC, and a bit.
ZONES = timedelta(days=1)


class Sums(TypedDict):
    due: int
    done: int
    skipped: int
    missed: int
    undelivered: int


class SumsOfDay(Sums):
    date: str


class SumsOfPengingat(Sums):
    id: int | None
    judul: str
    tipe: str


class Adherence(Sums):
    start: str
    end: str
    percent: float | None
    days: list[SumsOfDay]
    reminders: list[SumsOfPengingat]


def list_all(user_id: int, query: HistoryQuery) -> Listing[Occurrence]:
    """What has fallen due of a person's reminders, deleted ones included, newest first."""
    return _list(query, user_id, Occurrence.user_id == user_id)


def list_of(user_id: int, pengingat_id: int, query: HistoryQuery) -> Listing[Occurrence]:
    """What has fallen due of one reminder, newest first."""
    own.find(user_id, pengingat_id)
    return _list(query, user_id, Occurrence.reminder_id == pengingat_id)


def _list(query: HistoryQuery, user_id: int, whose: sa.ColumnElement[bool]) -> Listing[Occurrence]:
    now = clock.now()
    start, end = span(query.days, _today(user_id, now))
    rows = sa.select(Occurrence).where(whose, *_within(start, end, now))
    rows = rows.where(Occurrence.state == query.state if query.state else Occurrence.state != State.VOID)
    if query.tipe:
        rows = rows.where(Occurrence.tipe == query.tipe)
    return paginate(rows.order_by(Occurrence.due_at.desc(), Occurrence.id.desc()), query.page)


def span(days: Days, today: date) -> tuple[date, date]:
    """The days that are asked for; 30 up to today where nothing is said."""
    end = days.end or max(today, days.start or today)
    start = days.start or end - timedelta(days=DEFAULT_DAYS - 1)
    if (end - start).days >= MOST_DAYS:
        raise ValidationFailed({"start": [f"paling banyak {MOST_DAYS} hari."]})
    return start, end


def _today(user_id: int, now: datetime) -> date:
    """The day that it is where the person's newest reminder is."""
    newest = sa.select(Pengingat.timezone).where(Pengingat.user_id == user_id).order_by(Pengingat.id.desc()).limit(1)
    with autocommit() as connection:
        return _day(now, connection.scalar(newest))


def _day(now: datetime, zone: str | None) -> date:
    return now.astimezone(ZoneInfo(zone) if zone else clock.JAKARTA).date()


def _within(start: date, end: date, now: datetime) -> list[sa.ColumnElement[bool]]:
    """Fallen due, on a day of the reminder's own zone. The index knows the moments, which bound the days."""
    first, last = (datetime.combine(day, time(), UTC) for day in (start, end))
    rows = occurrences.c
    return [rows.due_at >= first - ZONES, rows.due_at <= min(now, last + 2 * ZONES), rows.day.between(start, end)]


# --- sums -----------------------------------------------------------------------------------------------------------


def adherence(user_id: int, days: Days) -> Adherence:
    """How a person kept to their reminders, in three statements whatever their number.

    A percentage counts neither what waits for an answer nor what we did not get out.
    """
    now = clock.now()
    reminders = (
        sa.select(Pengingat.id, Pengingat.judul, Pengingat.tipe, Pengingat.timezone)
        .where(Pengingat.user_id == user_id)
        .order_by(Pengingat.id.desc())
    )
    with autocommit() as connection:
        known = connection.execute(reminders).all()
        start, end = span(days, _day(now, known[0].timezone if known else None))
        rows = [row for query in _sums(user_id, start, end, now) for row in connection.execute(query).mappings()]
    by_day = [row for row in rows if row["day"] is not None]
    titles = {row.id: (row.judul, row.tipe) for row in known}
    sums = total(by_day)
    return {
        "start": start.isoformat(),
        "end": end.isoformat(),
        "percent": percent(sums),
        **sums,
        "days": _of_days(by_day, start, end),
        "reminders": _of_reminders([row for row in rows if row["day"] is None], titles),
    }


def percent(sums: Sums) -> float | None:
    judged = sums["done"] + sums["skipped"] + sums["missed"]
    return round(100 * sums["done"] / judged, 1) if judged else None


def daily_sums(user_id: int, start: date, end: date, now: datetime) -> list[AnySelect]:
    """Sums by day and reminder, under the names of `KEYS`; of very old days those that the ledger keeps."""
    return [sums.add_columns(*keys).group_by(*keys) for sums, keys in _sources(user_id, start, end, now)]


def _sums(user_id: int, start: date, end: date, now: datetime) -> list[AnySelect]:
    """Sums by day (`day`) and, in the same statement, by reminder (the other keys)."""
    return [
        sums.add_columns(day, *keys).group_by(sa.func.grouping_sets(sa.tuple_(day), sa.tuple_(*keys)))
        for sums, (day, *keys) in _sources(user_id, start, end, now)
    ]


def _sources(user_id: int, start: date, end: date, now: datetime) -> list[tuple[AnySelect, list[Any]]]:
    """What is counted, each with the columns that it may be grouped by."""
    rows, old = occurrences.c, occurrence_days.c
    live: AnySelect = sa.select(*ledger.counts(rows)).where(
        rows.user_id == user_id, rows.state != State.VOID, *_within(start, end, now)
    )
    sources = [(live, [rows[name] for name in KEYS])]
    if start <= (now - timedelta(days=ledger.KEEP_DAYS) + ZONES).date():
        kept: AnySelect = sa.select(*(sa.func.sum(old[name]).label(name) for name in COUNTS))
        sources.append((kept.where(old.user_id == user_id, old.day.between(start, end)), [old[name] for name in KEYS]))
    return sources


def total(rows: Iterable[Mapping[Any, Any]]) -> Sums:
    sums = Sums(due=0, done=0, skipped=0, missed=0, undelivered=0)
    for row in rows:
        _add(sums, row)
    return sums


def _add(sums: Sums, row: Mapping[Any, Any]) -> None:
    sums["due"] += int(row["due"])
    sums["done"] += int(row["done"])
    sums["skipped"] += int(row["skipped"])
    sums["missed"] += int(row["missed"])
    sums["undelivered"] += int(row["undelivered"])


def _of_days(rows: Iterable[Mapping[Any, Any]], start: date, end: date) -> list[SumsOfDay]:
    """Every day of the span, also those without anything due."""
    days = [start + timedelta(days=n) for n in range((end - start).days + 1)]
    sums: dict[date, SumsOfDay] = {day: {"date": day.isoformat(), **total([])} for day in days}
    for row in rows:
        _add(sums[row["day"]], row)
    return list(sums.values())


def _of_reminders(rows: Iterable[Mapping[Any, Any]], titles: Mapping[int, tuple[str, str]]) -> list[SumsOfPengingat]:
    """By reminder, the newest first, under the title that it has now; then deleted ones under their last."""
    sums: dict[tuple[int, str, str], SumsOfPengingat] = {}
    for row in rows:
        id_ = row["reminder_id"]
        judul, tipe = titles.get(id_, (row["judul"], row["tipe"]))
        key = (-id_, "", "") if id_ is not None else (0, tipe, judul)
        _add(sums.setdefault(key, {"id": id_, "judul": judul, "tipe": tipe, **total([])}), row)
    return [sums[key] for key in sorted(sums)]
