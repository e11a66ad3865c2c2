"""The current time by the database's clock.

The service decides by this clock which items are due or missed. All machines share this clock, and the clock of a
single machine may be wrong.
"""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from app.core.database.prepared import PreparedStatement
from app.core.database.session import current_connection

_NOW = PreparedStatement(sa.select(sa.func.clock_timestamp()))


def now() -> datetime:
    """Return the database's current time in UTC, timezone-aware.

    Use the connection of the open transaction, if there is one.
    """
    with current_connection() as connection:
        ((moment,),) = _NOW.rows(connection)
    now: datetime = moment
    return now


def now_sql() -> sa.ColumnElement[datetime]:
    """Return the current time as an SQL expression. The time does not change during a statement."""
    return sa.func.statement_timestamp()
