"""Threads: written, changed and deleted by their authors; administrators may delete any."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from app.core.database.session import db
from app.core.errors import NotFound, ValidationFailed
from app.core.media import pictures
from app.forum.models import ForumCategory, ForumReply, ForumThread
from app.forum.service import notices, reads
from app.forum.service.posts import change, check_may_delete, check_owner, check_pseudonym, take_picture
from app.identity.sessions import Caller


def create(data: dict[str, Any], caller: Caller) -> reads.Record:
    """A new thread, and the broadcast that tells of it."""
    take_picture(data)
    check_pseudonym(data, caller)
    _count(data["category_id"], 1)
    thread = ForumThread(user_id=caller.id, **data)
    db.session.add(thread)
    db.session.flush()
    notices.thread_written(thread)
    return reads.thread(db.session.connection(), thread.id, caller.id)


def update(thread_id: int, data: dict[str, Any], caller: Caller) -> reads.Record:
    """Change what is sent of an own thread."""
    take_picture(data)
    thread = _locked(thread_id)
    check_owner(thread, caller)
    check_pseudonym(data, caller)
    moves_to = data.get("category_id", thread.category_id)
    if moves_to != thread.category_id:
        # In one order, so that no two moves wait for one another.
        for category_id, step in sorted([(thread.category_id, -1), (moves_to, 1)]):
            _count(category_id, step)
    change(thread, data)
    return reads.thread(db.session.connection(), thread.id, caller.id)


def delete(thread_id: int, caller: Caller) -> None:
    """Delete a thread with its replies, marks and pictures."""
    thread = _locked(thread_id)
    check_may_delete(thread, caller)
    images = sa.select(ForumReply.image).where(ForumReply.thread_id == thread_id, ForumReply.image.is_not(None))
    for name in [thread.image, *db.session.scalars(images)]:
        pictures.discard(name)
    notices.thread_deleted(thread_id)
    category_id = thread.category_id
    db.session.delete(thread)
    db.session.flush()
    _count(category_id, -1)


def _locked(thread_id: int) -> ForumThread:
    thread = db.session.get(ForumThread, thread_id, with_for_update=True)
    if thread is None:
        raise NotFound(reads.NO_THREAD)
    return thread


def _count(category_id: int, step: int) -> None:
    """Keep the number of threads in their category's row. `ValidationFailed` for an unknown category."""
    found = db.session.scalar(
        sa.update(ForumCategory)
        .where(ForumCategory.id == category_id)
        .values(threads_count=ForumCategory.threads_count + step)
        .returning(ForumCategory.id)
        .execution_options(synchronize_session=False)
    )
    if found is None:
        raise ValidationFailed({"category_id": ["kategori tidak dikenal."]})
