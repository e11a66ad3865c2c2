"""Parts of texts in lists: found by trigram indexes, at the same cost however long the list is."""

from __future__ import annotations

import re

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute

from app.core.web.pagination import contains

#: What an index of trigrams needs of a text to know where it is.
TRIGRAM = re.compile(r"[A-Za-z0-9]{3}")

#: A text without it is looked for in so many rows, the newest.
MOST_LOOKED_AT = 10_000

#: The total of a narrowed list counts no further than this: nobody pages so far, and counting all matches is slow.
MOST_COUNTED = 10_000


def has_trigram(q: str) -> bool:
    return TRIGRAM.search(q) is not None


def containing(
    q: str, *columns: InstrumentedAttribute[object], newest_by: InstrumentedAttribute[object]
) -> sa.ColumnElement[bool]:
    """Whether one of the columns, whose trigrams are indexed together, contains `q` to the letter, whatever the case.

    `newest_by` is the indexed column of the same model by which its rows are new.
    """
    if has_trigram(q):
        return like(contains(q), *columns)
    return like_among_newest(contains(q), *columns, newest_by=newest_by, most=MOST_LOOKED_AT)


def like(pattern: str | sa.ColumnElement[str], *columns: sa.SQLColumnExpression[object]) -> sa.ColumnElement[bool]:
    return sa.or_(*(column.ilike(pattern) for column in columns))


def like_among_newest(
    pattern: str | sa.ColumnElement[str],
    *columns: InstrumentedAttribute[object],
    newest_by: InstrumentedAttribute[object],
    most: int,
) -> sa.ColumnElement[bool]:
    """As `like`, of the newest rows alone: what it costs is bounded where no index knows the text."""
    model = newest_by.class_
    newest = sa.select(model.id, *columns).order_by(newest_by.desc(), model.id.desc()).limit(most).subquery()
    matches = like(pattern, *(newest.c[column.key] for column in columns))
    among_newest: sa.ColumnElement[bool] = model.id.in_(sa.select(newest.c.id).where(matches))
    return among_newest
