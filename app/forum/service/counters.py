"""Updates of two counters: the threads of a category, and the replies of a thread. Hidden posts do not count."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import db
from app.core.errors import NotFound
from app.forum.models import ForumCategory, ForumThread
from app.forum.service.reads.posts import THREAD_NOT_FOUND


def count_thread(category_id: int, step: int) -> None:
    """Add `step` to the number of threads in a category's row."""
    db.session.execute(
        sa.update(ForumCategory)
        .where(ForumCategory.id == category_id)
        .values(threads_count=ForumCategory.threads_count + step)
        .execution_options(synchronize_session=False)
    )


def count_reply(thread_id: int, step: int) -> ForumThread:
    """Add `step` to a thread's number of replies. Return the thread, locked until the transaction ends."""
    thread = db.session.scalar(
        sa.update(ForumThread)
        .where(ForumThread.id == thread_id)
        .values(replies_count=ForumThread.replies_count + step)
        .returning(ForumThread)
        .execution_options(synchronize_session=False, populate_existing=True)
    )
    if thread is None:
        raise NotFound(THREAD_NOT_FOUND)
    return thread
