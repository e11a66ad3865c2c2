"""The forum's categories."""

from __future__ import annotations

from typing import TypedDict

import sqlalchemy as sa

from app.core.database.prepared import PreparedStatement
from app.core.database.session import autocommit
from app.forum.models import ForumCategory


class Category(TypedDict):
    id: int
    name: str
    preference_tag: str | None
    threads_count: int


CATEGORIES = PreparedStatement(
    sa.select(ForumCategory.id, ForumCategory.name, ForumCategory.preference_tag, ForumCategory.threads_count).order_by(
        ForumCategory.id
    )
)


def list_all() -> list[Category]:
    """Return all categories in the order of their ids."""
    with autocommit() as connection:
        return [
            {"id": id_, "name": name, "preference_tag": preference_tag, "threads_count": threads_count}
            for id_, name, preference_tag, threads_count in CATEGORIES.rows(connection)
        ]
