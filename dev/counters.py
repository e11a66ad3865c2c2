"""Check of the forum's counters of likes, saves, replies and threads, for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy import orm

from app.core.database.session import db, unit_of_work
from app.forum.models import ForumCategory, Mark, Post

CountedModel = type[ForumCategory] | type[Post]
Counters = Mapping[str, sa.ScalarSelect[int]]

_Counted = orm.aliased(Post)


def _count(counted: type[Post | Mark], *rules: sa.SQLColumnExpression[bool]) -> sa.ScalarSelect[int]:
    return sa.select(sa.func.count()).select_from(counted).where(*rules).scalar_subquery()


#: Queries that compute the correct value of each counter column.
COUNTERS: Mapping[CountedModel, Counters] = {
    ForumCategory: {
        "threads_count": _count(Post, Post.category_id == ForumCategory.id, Post.hidden_by.is_(None)),
    },
    Post: {
        "likes_count": _count(Mark, Mark.post_id == Post.id, Mark.is_liked),
        "saves_count": _count(Mark, Mark.post_id == Post.id, Mark.is_saved),
        "replies_count": _count(
            _Counted, _Counted.root_id == Post.id, _Counted.content.is_not(None), _Counted.hidden_by.is_(None)
        ),
    },
}


def wrong_counters() -> dict[str, int]:
    """Return how many rows have a wrong counter, by table name."""
    with unit_of_work():
        return {model.__tablename__: _count_wrong(model) for model in COUNTERS}


def _count_wrong(model: CountedModel) -> int:
    is_wrong = sa.or_(*(getattr(model, name) != count for name, count in COUNTERS[model].items()))
    return db.session.scalar(sa.select(sa.func.count()).select_from(model).where(is_wrong)) or 0
