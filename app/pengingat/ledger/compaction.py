"""Compaction of the ledger: occurrences older than 400 days are replaced by counts for each day."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import db
from app.pengingat.models import OccurrenceState, occurrence_days, occurrences

#: Days after which occurrences are replaced by daily counts.
KEEP_DAYS = 400
#: Occurrences per transaction.
COMPACT_BATCH = 5000

_rows = occurrences.c


def _count(*which: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
    return sa.func.count().filter(*which)


def counts(columns: sa.sql.base.ReadOnlyColumnCollection[str, sa.ColumnElement[Any]]) -> list[sa.Label[int]]:
    """Return SQL columns that count occurrences by outcome. The column `due` counts all occurrences.

    A missed occurrence counts as `undelivered` if the service failed to deliver its message. Otherwise it counts as
    `missed`.
    """
    state, undelivered = columns["state"], columns["undelivered"]
    return [
        sa.func.count().label("due"),
        _count(state == OccurrenceState.DONE).label("done"),
        _count(state == OccurrenceState.SKIPPED).label("skipped"),
        _count(state == OccurrenceState.MISSED, ~undelivered).label("missed"),
        _count(state == OccurrenceState.MISSED, undelivered).label("undelivered"),
    ]


def compact_batch(now: datetime) -> int:
    """Replace one batch of old occurrences with daily counts, in one statement.

    Return the number of deleted occurrences.
    """
    old = (
        sa.select(_rows.id)
        .where(_rows.due_at < now - timedelta(days=KEEP_DAYS))
        .limit(COMPACT_BATCH)
        .with_for_update(skip_locked=True)
        .scalar_subquery()
    )
    gone = sa.delete(occurrences).where(_rows.id.in_(old)).returning(*_rows).cte("gone")
    keys = [gone.c[name] for name in ("user_id", "day", "reminder_id", "tipe", "judul")]
    sums = sa.select(*keys, *counts(gone.c)).where(gone.c.state != OccurrenceState.VOID).group_by(*keys)
    summed = insert(occurrence_days).from_select([column.name for column in sums.selected_columns], sums).cte("summed")
    return db.session.scalar(sa.select(sa.func.count()).select_from(gone).add_cte(summed)) or 0
