"""Articles and videos that a user saved."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import db
from app.saved.models import Kind, Saved


def toggle(user_id: int, kind: Kind, item: str, **shown: object) -> bool:
    """Save a record or remove it. Return whether it is saved now. `shown` are the other columns of the row.

    Each call locks the row and inverts `saved`. A double tap therefore saves the record and removes it again.
    """
    new = insert(Saved).values(user_id=user_id, kind=kind, item=item, saved=True, **shown)
    flipped = {"saved": ~Saved.saved, "saved_at": sa.func.clock_timestamp(), **shown}
    statement = new.on_conflict_do_update(index_elements=["user_id", "kind", "item"], set_=flipped)
    return bool(db.session.scalar(statement.returning(Saved.saved)))


def is_saved(user_id: int | None, kind: Kind, item: sa.SQLColumnExpression[str | None]) -> sa.Label[bool]:
    """Return an SQL column that is true if the user saved this article or video."""
    own = sa.exists().where(Saved.item == item, *_own(user_id, kind)) if user_id is not None else sa.false()
    return own.label("is_saved")


def among(user_id: int | None, kind: Kind, items: Collection[str]) -> set[str]:
    """Return those among `items` that a user has saved."""
    if user_id is None:
        return set()
    return set(db.session.scalars(sa.select(Saved.item).where(*_own(user_id, kind), Saved.item.in_(items))))


def listed(query: sa.Select[*tuple[object, ...]], user_id: int, kind: Kind) -> sa.Select[*tuple[object, ...]]:
    """Return `query` of the rows that the user saved, latest first."""
    return query.where(*_own(user_id, kind)).order_by(Saved.saved_at.desc(), Saved.item)


def _own(user_id: int, kind: Kind) -> tuple[sa.SQLColumnExpression[bool], ...]:
    return Saved.user_id == user_id, Saved.kind == kind, Saved.saved
