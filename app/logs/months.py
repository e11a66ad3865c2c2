"""Partitions of the activity logs, one per Jakarta month. They are created in advance, and dropped as a whole.

Records of a month without a partition go to `activity_logs_rest`. When the partition of this month is created, these
records are moved to the partition.
Rows that are older than the partitions of the table are in `activity_logs_until_<month>`.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib import local_time

#: Number of future months for which partitions are created. If the creation of a partition fails, operators have
#: this time to notice the failure.
AHEAD = 2

#: Pattern of partition names. The name contains a month, and the partition has the rows of this month. If the name
#: contains `until_`, the partition has the rows from before this month.
NAME = re.compile(r"activity_logs_(?P<until>until_)?(?P<year>\d{4})_(?P<month>\d{2})")

#: Default partition, for rows that no other partition takes.
REST = "activity_logs_rest"

#: SQL that limits how long the next statements of the transaction wait for a lock. Without this limit, such a statement
#: could wait long for readers of the table. Writers would then wait behind the statement.
LOCK_TIMEOUT = "SET LOCAL lock_timeout = '500ms'"

_PARTITIONS = sa.text(
    "SELECT relname FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE inhparent = 'activity_logs'::regclass"
)


def ahead() -> list[date]:
    """Return the first day of this month, and of each of the next `AHEAD` months."""
    months = [local_time.today().replace(day=1)]
    for _ in range(AHEAD):
        months.append(_next(months[-1]))
    return months


def drop_before(moment: datetime) -> list[str]:
    """Drop the partitions whose months ended before `moment`. Return the names of the dropped partitions."""
    names = sorted(name for name in _partitions() if (end := _end(name)) is not None and end <= moment)
    for name in names:
        db.session.execute(sa.text(LOCK_TIMEOUT))
        db.session.execute(sa.text(f"DROP TABLE {name}"))
    return names


def make(month: date) -> None:
    """Create the partition of a month if it is missing, and move the month's rows from the default partition."""
    name, start, end = _name(month), _begin(month), _begin(_next(month))
    partitions = _partitions()
    if name in partitions or any("until" in other and start < (_end(other) or start) for other in partitions):
        return
    month_of_rest = f"FROM {REST} WHERE created_at >= '{start}' AND created_at < '{end}'"
    for statement in (
        LOCK_TIMEOUT,
        f"LOCK TABLE {REST} IN SHARE ROW EXCLUSIVE MODE",
        f"CREATE TABLE {name} (LIKE activity_logs INCLUDING ALL)",
        f"INSERT INTO {name} SELECT * {month_of_rest}",  # safe to interpolate: constants, never input
        f"DELETE {month_of_rest}",
        f"ALTER TABLE activity_logs ATTACH PARTITION {name} FOR VALUES FROM ('{start}') TO ('{end}')",
    ):
        db.session.connection().exec_driver_sql(statement)


def _partitions() -> list[str]:
    return list(db.session.scalars(_PARTITIONS))


def _name(month: date) -> str:
    return f"activity_logs_{month:%Y_%m}"


def _begin(month: date) -> datetime:
    return local_time.midnight(month)


def _next(month: date) -> date:
    return (month + timedelta(days=31)).replace(day=1)


def _end(name: str) -> datetime | None:
    """Return the end of a partition's time range, or None for the default partition."""
    match = NAME.fullmatch(name)
    if match is None:
        return None
    month = date(int(match["year"]), int(match["month"]), 1)
    return _begin(month if match["until"] else _next(month))
