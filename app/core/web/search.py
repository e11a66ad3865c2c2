"""Substring searches in lists. Trigram indexes keep their cost independent of the length of the list."""

from __future__ import annotations

import re

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute

from app.core.web.pagination import contains

#: Shortest text that a trigram index can find.
TRIGRAM = re.compile(r"[A-Za-z0-9]{3}")

#: Maximum rows, newest first, that a search without a trigram reads.
MAX_SEARCHED = 10_000

#: Maximum count of a filtered list. Nobody pages further, and counting all matches is slow.
MAX_COUNTED = 10_000


def has_trigram(q: str) -> bool:
    return TRIGRAM.search(q) is not None


def containing(
    q: str, *columns: InstrumentedAttribute[object], newest_by: InstrumentedAttribute[object]
) -> sa.ColumnElement[bool]:
    """Return the condition that one of the columns contains `q`, case-insensitively. They share a trigram index.

    `newest_by` is the indexed column of the same model that orders its rows by age.
    """
    if has_trigram(q):
        return like(contains(q), *columns)
    return like_among_newest(contains(q), *columns, newest_by=newest_by, most=MAX_SEARCHED)


def like(pattern: str | sa.ColumnElement[str], *columns: sa.SQLColumnExpression[object]) -> sa.ColumnElement[bool]:
    return sa.or_(*(column.ilike(pattern) for column in columns))


def like_among_newest(
    pattern: str | sa.ColumnElement[str],
    *columns: InstrumentedAttribute[object],
    newest_by: InstrumentedAttribute[object],
    most: int,
) -> sa.ColumnElement[bool]:
    """Search only the newest `most` rows. This limits the cost of a text that no index can find."""
    model = newest_by.class_
    newest = sa.select(model.id, *columns).order_by(newest_by.desc(), model.id.desc()).limit(most).subquery()
    matches = like(pattern, *(newest.c[column.key] for column in columns))
    among_newest: sa.ColumnElement[bool] = model.id.in_(sa.select(newest.c.id).where(matches))
    return among_newest
