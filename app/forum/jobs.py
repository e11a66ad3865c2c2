"""Counters against what they count. Nothing should ever be found; `flask forum repair` says so, or puts it right.

Suspects are found without locks. Each is then counted again while its row is locked, which everybody who changes a
counter locks first, so that a repair under load never breaks what is whole.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.forum.models import ForumCategory, ForumReply, ForumThread, ReplyMark, ThreadMark


def _counted(what: Any, *rules: Any) -> Any:
    return sa.select(sa.func.count()).select_from(what).where(*rules).scalar_subquery()


#: What each counter should be.
COUNTERS: dict[Any, dict[str, Any]] = {
    ForumCategory: {"threads_count": _counted(ForumThread, ForumThread.category_id == ForumCategory.id)},
    ForumThread: {
        "likes_count": _counted(ThreadMark, ThreadMark.thread_id == ForumThread.id, ThreadMark.is_liked),
        "saves_count": _counted(ThreadMark, ThreadMark.thread_id == ForumThread.id, ThreadMark.is_saved),
        "replies_count": _counted(ForumReply, ForumReply.thread_id == ForumThread.id, ~ForumReply.is_deleted),
    },
    ForumReply: {
        "likes_count": _counted(ReplyMark, ReplyMark.reply_id == ForumReply.id, ReplyMark.is_liked),
        "saves_count": _counted(ReplyMark, ReplyMark.reply_id == ForumReply.id, ReplyMark.is_saved),
    },
}


def repair() -> dict[str, int]:
    """Put wrong counters right, each row in a unit of work of its own; returns how many rows of each table were."""
    return {model.__tablename__: sum(_repair(model, id_) for id_ in _suspects(model)) for model in COUNTERS}


def _suspects(model: Any) -> list[int]:
    wrong = sa.or_(*(getattr(model, name) != counted for name, counted in COUNTERS[model].items()))
    with unit_of_work():
        db.session.execute(sa.text("SET LOCAL statement_timeout = 0"))
        return list(db.session.scalars(sa.select(model.id).where(wrong).order_by(model.id)))


def _repair(model: Any, id_: int) -> bool:
    with unit_of_work():
        # The lock and the count are two statements: the second one's snapshot is younger than the lock.
        db.session.execute(sa.select(model.id).where(model.id == id_).with_for_update(key_share=True))
        counters = COUNTERS[model]
        wrong = sa.or_(*(getattr(model, name) != counted for name, counted in counters.items()))
        fixed = db.session.scalar(
            sa.update(model)
            .where(model.id == id_, wrong)
            .values(counters)
            .returning(model.id)
            .execution_options(synchronize_session=False)
        )
    return fixed is not None
