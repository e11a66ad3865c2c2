"""The partitions of the activity logs: one for each month of Jakarta, made ahead, and dropped whole when it is old.

A record of a month that has no partition goes to `activity_logs_rest`; making the partition takes it from there. What
was there before the table was partitioned is one partition more, `activity_logs_until_<month>`.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib import clock

#: How many months ahead of the present one have a partition: time enough for somebody to see that none is made.
AHEAD = 2

#: A partition's name says which month it holds, or before which month's begin all of its rows are.
NAME = re.compile(r"activity_logs_(?P<until>until_)?(?P<year>\d{4})_(?P<month>\d{2})")

#: The partition of what no other one holds.
REST = "activity_logs_rest"

#: Nobody who writes waits longer than that behind a change that waits for somebody who reads.
LOCK_TIMEOUT = "SET LOCAL lock_timeout = '500ms'"

_PARTITIONS = sa.text(
    "SELECT relname FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE inhparent = 'activity_logs'::regclass"
)


def ahead() -> list[date]:
    """This month and the next ones, by their first days."""
    months = [clock.today().replace(day=1)]
    for _ in range(AHEAD):
        months.append(_next(months[-1]))
    return months


def drop_before(moment: datetime) -> list[str]:
    """Drop the partitions whose months were over at `moment`, however many rows they hold; returns their names."""
    names = sorted(name for name in _partitions() if (end := _end(name)) is not None and end <= moment)
    for name in names:
        db.session.execute(sa.text(LOCK_TIMEOUT))
        db.session.execute(sa.text(f"DROP TABLE {name}"))
    return names


def make(month: date) -> None:
    """Make the partition of a month that has none, with the records of the rest that are of that month."""
    name, start, end = _name(month), _begin(month), _begin(_next(month))
    partitions = _partitions()
    if name in partitions or any("until" in other and start < (_end(other) or start) for other in partitions):
        return
    month_of_rest = f"FROM {REST} WHERE created_at >= '{start}' AND created_at < '{end}'"
    for statement in (
        LOCK_TIMEOUT,
        f"LOCK TABLE {REST} IN SHARE ROW EXCLUSIVE MODE",
        f"CREATE TABLE {name} (LIKE activity_logs INCLUDING ALL)",
        f"INSERT INTO {name} SELECT * {month_of_rest}",  # names and moments of our own
        f"DELETE {month_of_rest}",
        f"ALTER TABLE activity_logs ATTACH PARTITION {name} FOR VALUES FROM ('{start}') TO ('{end}')",
    ):
        db.session.connection().exec_driver_sql(statement)


def _partitions() -> list[str]:
    return list(db.session.scalars(_PARTITIONS))


def _name(month: date) -> str:
    return f"activity_logs_{month:%Y_%m}"


def _begin(month: date) -> datetime:
    return clock.midnight(month)


def _next(month: date) -> date:
    return (month + timedelta(days=31)).replace(day=1)


def _end(name: str) -> datetime | None:
    """The moment before which all rows of a partition are; None of the rest."""
    match = NAME.fullmatch(name)
    if match is None:
        return None
    month = date(int(match["year"]), int(match["month"]), 1)
    return _begin(month if match["until"] else _next(month))
