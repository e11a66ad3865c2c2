"""Check of the forum's counters of likes, saves, replies and threads, for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.forum.models import ForumCategory, ForumReply, ForumThread, ReplyMark, ThreadMark

CountedModel = type[ForumCategory] | type[ForumThread] | type[ForumReply]
Counters = Mapping[str, sa.ScalarSelect[int]]


def _count(
    counted: type[ForumThread | ForumReply | ThreadMark | ReplyMark], *rules: sa.SQLColumnExpression[bool]
) -> sa.ScalarSelect[int]:
    return sa.select(sa.func.count()).select_from(counted).where(*rules).scalar_subquery()


#: Queries that compute the correct value of each counter column.
COUNTERS: Mapping[CountedModel, Counters] = {
    ForumCategory: {
        "threads_count": _count(
            ForumThread, ForumThread.category_id == ForumCategory.id, ForumThread.hidden_reason.is_(None)
        )
    },
    ForumThread: {
        "likes_count": _count(ThreadMark, ThreadMark.thread_id == ForumThread.id, ThreadMark.is_liked),
        "saves_count": _count(ThreadMark, ThreadMark.thread_id == ForumThread.id, ThreadMark.is_saved),
        "replies_count": _count(
            ForumReply,
            ForumReply.thread_id == ForumThread.id,
            ~ForumReply.is_deleted,
            ForumReply.hidden_reason.is_(None),
        ),
    },
    ForumReply: {
        "likes_count": _count(ReplyMark, ReplyMark.reply_id == ForumReply.id, ReplyMark.is_liked),
        "saves_count": _count(ReplyMark, ReplyMark.reply_id == ForumReply.id, ReplyMark.is_saved),
    },
}


def wrong_counters() -> dict[str, int]:
    """Return how many rows have a wrong counter, by table name."""
    with unit_of_work():
        return {model.__tablename__: _count_wrong(model) for model in COUNTERS}


def _count_wrong(model: CountedModel) -> int:
    is_wrong = sa.or_(*(getattr(model, name) != count for name, count in COUNTERS[model].items()))
    return db.session.scalar(sa.select(sa.func.count()).select_from(model).where(is_wrong)) or 0
