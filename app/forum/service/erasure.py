"""Erasure of a person's posts, likes and saves, in batches.

The person has chosen whether their posts are deleted, or stay without the author's name.
"""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import db
from app.forum.models import ForumReply, ForumThread
from app.forum.service import replies, threads, toggles
from app.forum.service.posts import Post
from app.identity.erasure import ErasureSubject, Posts

#: Maximum posts in one transaction. The limit for deletions is lower, because a deletion needs several statements.
BATCH = {Posts.ANONYMISE: 500, Posts.DELETE: 20}
MARKS = 500


def erase_threads(person: ErasureSubject) -> bool:
    """Erase one batch of the person's threads. Return whether more threads may remain."""
    batch = (
        sa.select(ForumThread)
        .where(ForumThread.user_id == person.id)
        .order_by(ForumThread.id)
        .limit(BATCH[person.posts])
        .with_for_update(key_share=True)
    )
    rows = db.session.scalars(batch).all()
    if person.posts is Posts.DELETE:
        for thread in sorted(rows, key=lambda thread: thread.category_id):
            threads.remove(thread)
    else:
        _leave_without_author(ForumThread, [thread.id for thread in rows])
    return bool(rows)


def erase_replies(person: ErasureSubject) -> bool:
    own = sa.select(ForumReply.id, ForumReply.thread_id).where(ForumReply.user_id == person.id)
    rows = db.session.execute(own.order_by(ForumReply.id).limit(BATCH[person.posts])).all()
    if not rows:
        return False
    threads_above = sa.select(ForumThread).where(ForumThread.id.in_({row.thread_id for row in rows}))
    locking = threads_above.order_by(ForumThread.id).with_for_update(key_share=True)
    locked_ids = {thread.id for thread in db.session.scalars(locking)}
    ids = [row.id for row in rows if row.thread_id in locked_ids]  # another request may have deleted the thread
    if person.posts is Posts.DELETE:
        remaining = sa.select(ForumReply).where(ForumReply.id.in_(ids), ~ForumReply.is_deleted)
        for reply in db.session.scalars(remaining.order_by(ForumReply.id).with_for_update(key_share=True)).all():
            replies.remove(reply)
        return True
    _leave_without_author(ForumReply, ids)
    return True


def erase_marks(person: ErasureSubject) -> bool:
    return toggles.remove_some_marks(person.id, MARKS)


def _leave_without_author(post: type[Post], ids: list[int]) -> None:
    db.session.execute(
        sa.update(post)
        .where(post.id.in_(ids))
        .values(user_id=None, image=None)
        .execution_options(synchronize_session=False)
    )
