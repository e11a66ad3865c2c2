"""Locks of posts, and the counters of threads and replies.

Every transaction locks rows in this order, so that two transactions never deadlock:

1. posts, by id: a thread has a smaller id than its replies
2. rows that belong to a locked post: its likes and saves, its case, its messages
3. people
4. categories, by id, as late as possible, because all writers in a category wait for the lock

Lock a post FOR NO KEY UPDATE before you insert a row with a foreign key to the post. The foreign key alone takes only
a FOR KEY SHARE lock. PostgreSQL grants this weaker lock while another transaction likes the same post, and the two
transactions can then deadlock.
"""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import db
from app.core.errors import Forbidden, NotFound
from app.forum.models import ForumCategory, Post
from app.forum.service.reads import REPLY_NOT_FOUND, THREAD_NOT_FOUND
from app.identity.sessions import Caller


def lock(post_id: int, *, is_thread: bool | None = None) -> Post:
    """Lock a post, and before it the thread of a reply. Raise `NotFound` for an unknown post and for a stub.

    Also raise `NotFound` if `is_thread` does not say what the post is.
    """
    root_id = sa.select(Post.root_id).where(Post.id == post_id).scalar_subquery()
    wanted = sa.select(Post).where(sa.or_(Post.id == post_id, Post.id == root_id)).order_by(Post.id)
    locking = wanted.with_for_update(key_share=True).execution_options(populate_existing=True)
    post = next((each for each in db.session.scalars(locking) if each.id == post_id), None)
    if post is None or post.content is None or is_thread not in (None, post.root_id is None):
        raise NotFound(THREAD_NOT_FOUND if is_thread else REPLY_NOT_FOUND)
    return post


def lock_own(post_id: int, caller: Caller, *, is_thread: bool) -> Post:
    """Lock a post of the caller. Raise `Forbidden` if the caller is not its author."""
    post = lock(post_id, is_thread=is_thread)
    if post.user_id != caller.id:
        raise Forbidden("Hanya penulisnya yang boleh melakukan ini.", code="not_the_owner")
    return post


def count(post: Post, step: int) -> None:
    """Add `step` to the number of threads of a thread's category, or to the number of replies of a reply's thread."""
    if post.root_id is None:
        count_thread(post.category_id, step)
    else:
        counter = {"replies_count": Post.replies_count + step}
        which = sa.update(Post).where(Post.id == post.root_id).values(counter)
        db.session.execute(which.execution_options(synchronize_session=False))


def count_thread(category_id: int | None, step: int) -> None:
    counter = {"threads_count": ForumCategory.threads_count + step}
    which = sa.update(ForumCategory).where(ForumCategory.id == category_id).values(counter)
    db.session.execute(which.execution_options(synchronize_session=False))
