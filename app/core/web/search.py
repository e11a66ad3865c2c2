"""Parts of texts in lists: found by trigram indexes, at the same cost however long the list is."""

from __future__ import annotations

import re
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute

from app.core.web.pagination import contains

#: What an index of trigrams needs of a text to know where it is.
HAS_TRIGRAM = re.compile(r"[A-Za-z0-9]{3}")

#: A text without it is looked for in so many rows, the newest.
MOST_LOOKED_AT = 10_000

#: The total of a narrowed list counts no further than this: nobody pages so far, and counting all matches is slow.
MOST_COUNTED = 10_000


def containing(
    q: str, *columns: InstrumentedAttribute[Any], newest_by: InstrumentedAttribute[Any]
) -> sa.ColumnElement[bool]:
    """Whether one of the columns, whose trigrams are indexed together, contains `q` to the letter, whatever the case.

    `newest_by` is the indexed column of the same model by which its rows are new.
    """
    if HAS_TRIGRAM.search(q):
        return sa.or_(*(column.ilike(contains(q)) for column in columns))
    model = newest_by.class_
    newest = sa.select(model.id, *columns).order_by(newest_by.desc()).limit(MOST_LOOKED_AT).subquery()
    matches = sa.or_(*(newest.c[column.key].ilike(contains(q)) for column in columns))
    in_newest: sa.ColumnElement[bool] = model.id.in_(sa.select(newest.c.id).where(matches))
    return in_newest
