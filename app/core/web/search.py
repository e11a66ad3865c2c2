"""Substring searches in lists. With trigram indexes, the time of a search does not grow with the length of the list."""

from __future__ import annotations

import re

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute

#: A search can use a trigram index only if the search text contains a match of this pattern.
TRIGRAM = re.compile(r"[A-Za-z0-9]{3}")

#: Maximum rows that a search without an index reads. The newest rows are read first.
MAX_SEARCHED = 10_000

#: Maximum total of a filtered list. The count stops at this number, because a full count is slow and nobody reads so
#: many pages.
MAX_COUNTED = 10_000


def has_trigram(q: str) -> bool:
    return TRIGRAM.search(q) is not None


def like(pattern: str | sa.ColumnElement[str], *columns: sa.SQLColumnExpression[object]) -> sa.ColumnElement[bool]:
    return sa.or_(*(column.regexp_match(pattern, flags="i") for column in columns))


def like_among_newest(
    pattern: str | sa.ColumnElement[str],
    *columns: InstrumentedAttribute[object],
    newest_by: InstrumentedAttribute[object],
    most: int,
) -> sa.ColumnElement[bool]:
    """Return a condition that searches only the newest `most` rows. Use it if no index can speed up the search."""
    model = newest_by.class_
    newest = sa.select(model.id, *columns).order_by(newest_by.desc(), model.id.desc()).limit(most).subquery()
    matches = like(pattern, *(newest.c[column.key] for column in columns))
    among_newest: sa.ColumnElement[bool] = model.id.in_(sa.select(newest.c.id).where(matches))
    return among_newest
