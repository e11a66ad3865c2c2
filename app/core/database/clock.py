"""The database's clock, which all machines share.

It decides what is planned, due and missed: a machine whose own clock is wrong must not be early, late or skip days for
everybody.
"""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from app.core.database.prepared import PreparedStatement
from app.core.database.session import current_connection

_NOW = PreparedStatement(sa.select(sa.func.clock_timestamp()))


def now() -> datetime:
    """Return the database's present moment, aware, in UTC. Inside a transaction it takes no second connection."""
    with current_connection() as connection:
        ((moment,),) = _NOW.rows(connection)
    now: datetime = moment
    return now


def now_sql() -> sa.ColumnElement[datetime]:
    """Return the same clock as an expression: one moment for the whole statement."""
    return sa.func.statement_timestamp()
