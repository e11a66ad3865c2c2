"""The database's clock, which all machines share.

It decides what is planned, due and missed: a machine whose own clock is wrong must not be early, late or skip days for
everybody.
"""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from app.core.database.prepared import PreparedStatement
from app.core.database.session import autocommit

_NOW = PreparedStatement(sa.select(sa.func.clock_timestamp()))


def now() -> datetime:
    """The database's present moment, aware, in UTC."""
    with autocommit() as connection:
        ((moment,),) = _NOW.rows(connection)
    now: datetime = moment
    return now
