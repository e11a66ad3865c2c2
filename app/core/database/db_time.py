"""The database's clock, which all machines share.

This clock decides what is scheduled, due and missed, because the clock of one machine may be wrong.
"""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from app.core.database.prepared import PreparedStatement
from app.core.database.session import current_connection

_NOW = PreparedStatement(sa.select(sa.func.clock_timestamp()))


def now() -> datetime:
    """Return the database's current time in UTC, timezone-aware. Reuse the connection of an open transaction."""
    with current_connection() as connection:
        ((moment,),) = _NOW.rows(connection)
    now: datetime = moment
    return now


def now_sql() -> sa.ColumnElement[datetime]:
    """Return the current time as an SQL expression. The time is the same for the whole statement."""
    return sa.func.statement_timestamp()
