"""Likes and saves. One SQL statement toggles the mark of a person for a post, and updates the counter of the post.

The statement locks the post first, then the mark. If two requests arrive together, the second request waits for the
first and then toggles the result of the first.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import db
from app.core.errors import NotFound
from app.forum.service.reads import REPLY_NOT_FOUND, THREAD_NOT_FOUND, marks, posts

#: The two flags of a mark, and the counters of a post.
Flag = Literal["is_liked", "is_saved"]
_COUNTERS = {"is_liked": posts.c.likes_count, "is_saved": posts.c.saves_count}


@cache
def _toggle(flag: Flag, *, is_thread: bool) -> sa.Update:
    wanted = posts.c.id == sa.bindparam("of_post", type_=sa.BigInteger), posts.c.content.is_not(None)
    is_of_kind = posts.c.root_id.is_(None) if is_thread else posts.c.root_id.is_not(None)
    locked = sa.select(posts.c.id).where(*wanted, is_of_kind).with_for_update(key_share=True).cte("locked")
    new = sa.select(locked.c.id, sa.bindparam("of_user", type_=sa.BigInteger), sa.true())
    toggled = (
        insert(marks)
        .from_select(["post_id", "user_id", flag], new)
        .on_conflict_do_update(index_elements=["post_id", "user_id"], set_={flag: ~marks.c[flag]})
        .returning(marks.c.post_id, marks.c[flag].label("flag"))
        .cte("toggled")
    )
    counter = _COUNTERS[flag]
    return (
        sa.update(posts)
        .where(posts.c.id == toggled.c.post_id)
        .values({counter: counter + sa.case((toggled.c.flag, 1), else_=-1)})
        .returning(toggled.c.flag)
    )


def toggle(flag: Flag, post_id: int, user_id: int, *, is_thread: bool) -> bool:
    """Toggle the like or the save of a post. Return whether the person likes or saves the post now."""
    values = {"of_post": post_id, "of_user": user_id}
    value: bool | None = db.session.scalar(_toggle(flag, is_thread=is_thread), values)
    if value is None:
        raise NotFound(THREAD_NOT_FOUND if is_thread else REPLY_NOT_FOUND)
    return value


def remove_all(user_id: int) -> None:
    """Remove all likes and saves of a person, and update the counters.

    Also lock the person's own posts and their threads, in the order of all writers. The erasure changes them next.
    """
    own = sa.select(posts.c.id, posts.c.root_id).where(posts.c.user_id == user_id).cte("own")
    marked = sa.select(marks.c.post_id).where(marks.c.user_id == user_id)
    ids = sa.union_all(sa.select(own.c.id), sa.select(own.c.root_id), marked)
    locking = sa.select(posts.c.id).where(posts.c.id.in_(ids)).order_by(posts.c.id)
    db.session.execute(locking.with_for_update(key_share=True))
    gone = sa.delete(marks).where(marks.c.user_id == user_id).returning(marks).cte("gone")
    db.session.execute(
        sa.update(posts)
        .where(posts.c.id == gone.c.post_id)
        .values(
            likes_count=posts.c.likes_count - sa.cast(gone.c.is_liked, sa.Integer),
            saves_count=posts.c.saves_count - sa.cast(gone.c.is_saved, sa.Integer),
        )
    )
