"""Likes and saves. A mark is the row with the like and the save of one person for one post.

One SQL statement toggles the mark and updates the post's counter. The statement locks the post first, then the mark.
If two requests arrive together, the second request waits for the first and then toggles the
result of the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import db
from app.core.errors import NotFound
from app.forum.models import ForumReply, ForumThread, ReplyMark, ThreadMark
from app.forum.service.posts import PostType
from app.forum.service.reads.posts import REPLY_NOT_FOUND, THREAD_NOT_FOUND


@dataclass(frozen=True)
class Toggle:
    """A statement that toggles a person's like or save of a post, updates the counter, and returns the new value."""

    statement: sa.UpdateBase
    not_found: str

    def apply(self, post_id: int, user_id: int) -> bool:
        """Toggle the like or save of one post and return its new value. Raise `NotFound` for an unknown post."""
        is_set = db.session.scalar(self.statement, {"of_post": post_id, "of_user": user_id})
        if is_set is None:
            raise NotFound(self.not_found)
        return bool(is_set)


def _statement(
    post: PostType,
    mark: type[ThreadMark] | type[ReplyMark],
    key: str,
    flag: str,
    counter: str,
) -> sa.UpdateBase:
    post_row = sa.select(post.id).where(post.id == sa.bindparam("of_post", type_=sa.BigInteger))
    if post is ForumReply:
        post_row = post_row.where(~ForumReply.is_deleted)
    locked = post_row.with_for_update(key_share=True).cte("locked")  # the lock is FOR NO KEY UPDATE
    new_mark = sa.select(locked.c.id, sa.bindparam("of_user", type_=sa.BigInteger), sa.true())
    toggled = (
        insert(mark)
        .from_select([key, "user_id", flag], new_mark)
        .on_conflict_do_update(index_elements=[key, "user_id"], set_={flag: ~getattr(mark, flag)})
        .returning(getattr(mark, key).label("id"), getattr(mark, flag).label("flag"))
        .cte("toggled")
    )
    count = getattr(post, counter)
    return (
        sa.update(post)
        .where(post.id == toggled.c.id)
        .values({counter: count + sa.case((toggled.c.flag, 1), else_=-1)})
        .returning(toggled.c.flag)
        .execution_options(synchronize_session=False)
    )


_THREAD, _REPLY = (ForumThread, ThreadMark, "thread_id"), (ForumReply, ReplyMark, "reply_id")
LIKES: Mapping[PostType, Toggle] = {
    ForumThread: Toggle(_statement(*_THREAD, "is_liked", "likes_count"), THREAD_NOT_FOUND),
    ForumReply: Toggle(_statement(*_REPLY, "is_liked", "likes_count"), REPLY_NOT_FOUND),
}
SAVES: Mapping[PostType, Toggle] = {
    ForumThread: Toggle(_statement(*_THREAD, "is_saved", "saves_count"), THREAD_NOT_FOUND),
    ForumReply: Toggle(_statement(*_REPLY, "is_saved", "saves_count"), REPLY_NOT_FOUND),
}


def like(kind: PostType, post_id: int, user_id: int) -> bool:
    """Toggle the like of a post. Return whether the person likes the post now."""
    return LIKES[kind].apply(post_id, user_id)


def save(kind: PostType, post_id: int, user_id: int) -> bool:
    """Toggle the save of a post. Return whether the person has saved the post now."""
    return SAVES[kind].apply(post_id, user_id)


def remove_all_marks(user_id: int) -> None:
    """Remove all likes and saves of a person before the deletion of their account, and update the counters.

    Also lock the person's own posts, because the deletion of the account clears `user_id` in these rows.
    """
    _lock_posts(user_id)
    for post, mark, key in _MARKS:
        _take_back(post, mark, key, mark.user_id == user_id)


def remove_some_marks(user_id: int, most: int) -> bool:
    """Remove at most `most` likes and saves of a person, and update the counters. Return whether more may remain."""
    for post, mark, key in _MARKS:
        marked = sa.select(key).where(mark.user_id == user_id).order_by(key).limit(most)
        if ids := db.session.scalars(marked).all():
            posts = sa.select(post.id).where(post.id.in_(ids)).order_by(post.id)
            db.session.execute(posts.with_for_update(key_share=True))
            _take_back(post, mark, key, sa.and_(mark.user_id == user_id, key.in_(ids)))
            return True
    return False


_MARKS: tuple[tuple[PostType, type[ThreadMark] | type[ReplyMark], orm.InstrumentedAttribute[int]], ...] = (
    (ForumThread, ThreadMark, ThreadMark.thread_id),
    (ForumReply, ReplyMark, ReplyMark.reply_id),
)


def _take_back(
    post: PostType,
    mark: type[ThreadMark] | type[ReplyMark],
    key: orm.InstrumentedAttribute[int],
    which: sa.ColumnElement[bool],
) -> None:
    delete = sa.delete(mark).where(which)
    deleted = delete.returning(key.label("id"), mark.is_liked, mark.is_saved).cte("deleted")
    db.session.execute(
        sa.update(post)
        .where(post.id == deleted.c.id)
        .values(
            likes_count=post.likes_count - sa.cast(deleted.c.is_liked, sa.Integer),
            saves_count=post.saves_count - sa.cast(deleted.c.is_saved, sa.Integer),
        )
        .execution_options(synchronize_session=False)
    )


def _lock_posts(user_id: int) -> None:
    """Lock the posts that a person has written, liked or saved: threads before replies, each in the order of ids."""
    marked = sa.select(ReplyMark.reply_id).where(ReplyMark.user_id == user_id)
    for post, ids in (
        (
            ForumThread,
            sa.union_all(
                sa.select(ThreadMark.thread_id).where(ThreadMark.user_id == user_id),
                sa.select(ForumThread.id).where(ForumThread.user_id == user_id),
                sa.select(ForumReply.thread_id).where(ForumReply.user_id == user_id),
                sa.select(ForumReply.thread_id).where(ForumReply.id.in_(marked)),
            ),
        ),
        (
            ForumReply,
            sa.union_all(marked, sa.select(ForumReply.id).where(ForumReply.user_id == user_id)),
        ),
    ):
        db.session.execute(sa.select(post.id).where(post.id.in_(ids)).order_by(post.id).with_for_update(key_share=True))
