"""The current time by the database's clock.

The service decides by this clock which items are due or missed. All machines share this clock, and the clock of a
single machine may be wrong.
"""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from app.core.database.session import db


def now() -> datetime:
    """Return the database's current time in UTC, timezone-aware."""
    now: datetime = db.session.scalars(sa.select(sa.func.clock_timestamp())).one()
    return now


def now_sql() -> sa.ColumnElement[datetime]:
    """Return the current time as an SQL expression. The time does not change during a statement."""
    return sa.func.statement_timestamp()


def as_text(moment: object) -> sa.ColumnElement[str]:
    """Return a time column cast to text. To create a `datetime` takes longer than to read all other columns."""
    return sa.cast(moment, sa.Text)
