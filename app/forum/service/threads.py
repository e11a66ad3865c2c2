"""Threads: written, changed and deleted by their authors; administrators may delete any."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import autocommit, db
from app.core.errors import NotFound, Unauthorized, ValidationFailed
from app.core.media import pictures
from app.core.web.pagination import Listing, Partial
from app.forum.models import ForumCategory, ForumReply, ForumThread
from app.forum.schemas import NewThread, RepliesQuery, ThreadChanges, ThreadQuery
from app.forum.service import notices
from app.forum.service.posts import change, check_may_delete, check_owner, check_pseudonym
from app.forum.service.reads.posts import THREAD_NOT_FOUND
from app.forum.service.reads.threads import Thread, ThreadPage, ThreadRow, read_page, read_part, read_thread
from app.identity import own_pictures
from app.identity.sessions import Caller, Reader


def list_all(query: ThreadQuery, reader: Reader | None) -> Listing[ThreadRow]:
    """One page of threads, newest first. `Unauthorized` for nobody's own or saved threads."""
    if reader is None and (query.saved or query.mine):
        raise Unauthorized
    with autocommit() as connection:
        return read_page(connection, query, reader)


def get(thread_id: int, query: RepliesQuery, reader: Reader | None) -> Partial[Thread] | ThreadPage:
    """A thread with the tree of its replies, or the part of it that `query` asks for."""
    with autocommit() as connection:
        if query.is_plain:
            return read_thread(connection, thread_id, reader)
        return read_part(connection, thread_id, query, reader)


def create(data: NewThread, caller: Caller) -> Thread:
    """A new thread, and the broadcast that announces it."""
    columns = pictures.columns(data)  # before the first statement: no transaction waits while a picture is decoded
    check_pseudonym(data["use_pseudonym"], caller)
    _count(data["category_id"], 1)
    own_pictures.keep(caller.id, columns)
    thread = ForumThread(user_id=caller.id, **columns)
    db.session.add(thread)
    db.session.flush()
    notices.thread_written(thread)
    return read_thread(db.session.connection(), thread.id, Reader.of(caller)).record


def update(thread_id: int, data: ThreadChanges, caller: Caller) -> Thread:
    """Change what is sent of an own thread."""
    columns = pictures.columns(data)
    thread = _locked(thread_id)
    check_owner(thread, caller)
    check_pseudonym(data.get("use_pseudonym", False), caller)
    moves_to = data.get("category_id", thread.category_id)
    if moves_to != thread.category_id:
        # In one order, so that no two moves wait for one another.
        for category_id, step in sorted([(thread.category_id, -1), (moves_to, 1)]):
            _count(category_id, step)
    change(thread, columns, caller)
    return read_thread(db.session.connection(), thread.id, Reader.of(caller)).record


def delete(thread_id: int, caller: Caller) -> None:
    """Delete a thread with its replies, marks and pictures."""
    thread = _locked(thread_id)
    check_may_delete(thread, caller)
    images = sa.select(ForumReply.image).where(ForumReply.thread_id == thread_id)
    own_pictures.discard(thread.image, *db.session.scalars(images))
    notices.thread_deleted(thread_id)
    category_id = thread.category_id
    db.session.delete(thread)
    db.session.flush()
    _count(category_id, -1)


def _locked(thread_id: int) -> ForumThread:
    thread = db.session.get(ForumThread, thread_id, with_for_update=True)
    if thread is None:
        raise NotFound(THREAD_NOT_FOUND)
    return thread


def _count(category_id: int, step: int) -> None:
    """Add `step` to the number of threads in a category's row. `ValidationFailed` for an unknown category."""
    counted_id = db.session.scalar(
        sa.update(ForumCategory)
        .where(ForumCategory.id == category_id)
        .values(threads_count=ForumCategory.threads_count + step)
        .returning(ForumCategory.id)
        .execution_options(synchronize_session=False)
    )
    if counted_id is None:
        raise ValidationFailed({"category_id": ["tidak dikenal."]})
