"""How often a number is written back to: two machines that answer one another must come to an end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.notifications.models import Heard, inbound

MOST_AN_HOUR, MOST_A_DAY = 3, 10
#: How long the help text is not repeated.
HELP_AGAIN = timedelta(hours=12)
#: A row is handled so long after it came, at most, that it still counts.
LATEST = timedelta(days=8)

#: What the outcome of a row begins with that was answered.
ANSWERED = "answered:"
HELPED = f"{ANSWERED}help"

_rows = inbound.c


@dataclass(frozen=True)
class Budget:
    """What may still be written to a number."""

    is_left: bool
    may_help: bool


def budget(phone: str) -> Budget:
    """What may be written to a number now; until this transaction ends nobody else asks that of it."""
    db.session.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(f"inbox:{phone}", 0))))
    now = sa.func.statement_timestamp()

    def since(span: timedelta, *which: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
        return sa.func.count().filter(_rows.handled_at > now - span, *which)

    counts = (since(timedelta(hours=1)), since(timedelta(days=1)), since(HELP_AGAIN, _rows.outcome == HELPED))
    answered = sa.select(*counts).where(
        _rows.phone == phone,
        _rows.kind == sa.literal_column(f"'{Heard.MESSAGE}'"),
        _rows.received_at > now - LATEST,
        _rows.outcome.startswith(ANSWERED),
    )
    hour, day, helped = db.session.execute(answered).one()
    is_left = hour < MOST_AN_HOUR and day < MOST_A_DAY
    return Budget(is_left, is_left and not helped)
