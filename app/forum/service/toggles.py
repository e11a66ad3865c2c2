"""Likes and saves: one statement decides and keeps the count, so it may be a transaction of its own.

The post's row is locked first, then the mark's: a second tap waits there, then flips what the first one left, and a
thread that is being deleted never waits for a tap that waits for it.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.prepared import PreparedStatement
from app.core.database.session import db
from app.core.errors import NotFound
from app.forum.models import ForumReply, ForumThread, ReplyMark, ThreadMark
from app.forum.service.reads import NO_REPLY, NO_THREAD


def _toggle(
    post: type[ForumThread] | type[ForumReply], mark: Any, key: str, flag: str, counter: str
) -> PreparedStatement:
    """The statement that flips `flag` of the caller's mark, moves `counter` along, and returns the flag."""
    wanted = sa.select(post.id).where(post.id == sa.bindparam("post_id", type_=sa.BigInteger))
    if post is ForumReply:
        wanted = wanted.where(~ForumReply.is_deleted)
    locked = wanted.with_for_update(key_share=True).cte("locked")  # FOR NO KEY UPDATE
    flip = (
        insert(mark)
        .from_select([key, "user_id", flag], sa.select(locked.c.id, sa.bindparam("me", type_=sa.BigInteger), sa.true()))
        .on_conflict_do_update(index_elements=[key, "user_id"], set_={flag: ~getattr(mark, flag)})
        .returning(getattr(mark, key).label("id"), getattr(mark, flag).label("flag"))
        .cte("flip")
    )
    count = getattr(post, counter)
    return PreparedStatement(
        sa.update(post)
        .where(post.id == flip.c.id)
        .values({counter: count + sa.case((flip.c.flag, 1), else_=-1)})
        .returning(flip.c.flag)
    )


_LIKE_THREAD = _toggle(ForumThread, ThreadMark, "thread_id", "is_liked", "likes_count")
_SAVE_THREAD = _toggle(ForumThread, ThreadMark, "thread_id", "is_saved", "saves_count")
_LIKE_REPLY = _toggle(ForumReply, ReplyMark, "reply_id", "is_liked", "likes_count")
_SAVE_REPLY = _toggle(ForumReply, ReplyMark, "reply_id", "is_saved", "saves_count")


def like_thread(connection: sa.Connection, thread_id: int, me: int) -> bool:
    """Like a thread, or take the like back; returns whether it is liked now."""
    return _flip(connection, _LIKE_THREAD, thread_id, me, NO_THREAD)


def save_thread(connection: sa.Connection, thread_id: int, me: int) -> bool:
    """Save a thread, or take that back; returns whether it is saved now."""
    return _flip(connection, _SAVE_THREAD, thread_id, me, NO_THREAD)


def like_reply(connection: sa.Connection, reply_id: int, me: int) -> bool:
    """Like a reply, or take the like back; returns whether it is liked now."""
    return _flip(connection, _LIKE_REPLY, reply_id, me, NO_REPLY)


def save_reply(connection: sa.Connection, reply_id: int, me: int) -> bool:
    """Save a reply, or take that back; returns whether it is saved now."""
    return _flip(connection, _SAVE_REPLY, reply_id, me, NO_REPLY)


def _flip(connection: sa.Connection, statement: PreparedStatement, post_id: int, me: int, missing: str) -> bool:
    rows = statement.rows(connection, {"post_id": post_id, "me": me})
    if not rows:
        raise NotFound(missing)
    return bool(rows[0][0])


def take_back_all(user_id: int) -> None:
    """Take back what a person has liked and saved, counters included: for an account that is about to be deleted."""
    for post, mark, key in (
        (ForumThread, ThreadMark, ThreadMark.thread_id),
        (ForumReply, ReplyMark, ReplyMark.reply_id),
    ):
        # In the order of ids, so that no two such runs wait for one another.
        touched = sa.select(key).where(mark.user_id == user_id)
        locked = sa.select(post.id).where(post.id.in_(touched)).order_by(post.id).with_for_update(key_share=True)
        db.session.execute(locked)
        gone = sa.delete(mark).where(mark.user_id == user_id).returning(key.label("id"), mark.is_liked, mark.is_saved)
        mine = gone.cte("mine")
        db.session.execute(
            sa.update(post)
            .where(post.id == mine.c.id)
            .values(
                likes_count=post.likes_count - sa.cast(mine.c.is_liked, sa.Integer),
                saves_count=post.saves_count - sa.cast(mine.c.is_saved, sa.Integer),
            )
            .execution_options(synchronize_session=False)
        )
