"""Threads: written, changed and deleted by their authors; administrators may delete any."""

from __future__ import annotations

import logging
from typing import Any

import sqlalchemy as sa

from app.core import media
from app.core.db import assign, db
from app.core.errors import Forbidden, NotFound, ValidationFailed
from app.forum.models import ForumCategory, ForumReply, ForumThread
from app.forum.service import notices, reads
from app.forum.service.reads import NO_THREAD
from app.identity.models import RoleName, User
from app.identity.sessions import Caller

logger = logging.getLogger(__name__)


def create(data: dict[str, Any], caller: Caller) -> reads.Record:
    """A new thread, and the broadcast that tells of it."""
    data["image"] = save_picture(data.pop("image", None))
    check_pseudonym(data, caller)
    _count(data["category_id"], 1)
    thread = ForumThread(user_id=caller.id, **data)
    db.session.add(thread)
    db.session.flush()
    notices.announce(thread)
    return reads.thread(db.session.connection(), thread.id, caller.id)


def update(thread_id: int, data: dict[str, Any], caller: Caller) -> reads.Record:
    """Change what is sent of an own thread."""
    replace_picture(data, lambda: _own(thread_id, caller))
    thread = _own(thread_id, caller)
    check_pseudonym(data, caller)
    moves_to = data.get("category_id", thread.category_id)
    if moves_to != thread.category_id:
        # In one order, whoever moves what where.
        for category_id, change in sorted([(thread.category_id, -1), (moves_to, 1)]):
            _count(category_id, change)
    assign(thread, {**data, "updated_at": sa.func.now()})
    return reads.thread(db.session.connection(), thread.id, caller.id)


def delete(thread_id: int, caller: Caller) -> None:
    """Delete a thread with its replies, marks and pictures."""
    thread = _locked(thread_id)
    check_may_delete(thread, caller)
    pictures = sa.select(ForumReply.image).where(ForumReply.thread_id == thread_id, ForumReply.image.is_not(None))
    for name in [thread.image, *db.session.scalars(pictures)]:
        media.discard(name)
    notices.withdraw_thread(thread)
    db.session.execute(sa.delete(ForumThread).where(ForumThread.id == thread_id))
    _count(thread.category_id, -1)


def _locked(thread_id: int) -> ForumThread:
    thread = db.session.get(ForumThread, thread_id, with_for_update=True)
    if thread is None:
        raise NotFound(NO_THREAD)
    return thread


def _own(thread_id: int, caller: Caller) -> ForumThread:
    thread = _locked(thread_id)
    check_owner(thread, caller)
    return thread


def _count(category_id: int, change: int) -> None:
    """Keep the number of threads in their category's row. `ValidationFailed` for an unknown category."""
    found = db.session.scalar(
        sa.update(ForumCategory)
        .where(ForumCategory.id == category_id)
        .values(threads_count=ForumCategory.threads_count + change)
        .returning(ForumCategory.id)
        .execution_options(synchronize_session=False)
    )
    if found is None:
        raise ValidationFailed({"category_id": ["kategori tidak dikenal."]})
