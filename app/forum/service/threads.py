"""Threads: written, changed and deleted by their authors; administrators may delete any."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import autocommit, db
from app.core.errors import Unauthorized
from app.core.media import pictures
from app.core.web.pagination import Listing, Partial
from app.forum.models import ForumReply, ForumThread
from app.forum.schemas import NewThread, RepliesQuery, ThreadChanges, ThreadQuery
from app.forum.service import notices
from app.forum.service.counters import count_thread
from app.forum.service.posts import change, check_may_delete, check_owner, check_pseudonym, locked_thread
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
    count_thread(data["category_id"], 1)
    own_pictures.keep(caller.id, columns)
    thread = ForumThread(user_id=caller.id, **columns)
    db.session.add(thread)
    db.session.flush()
    notices.thread_written(thread)
    return read_thread(db.session.connection(), thread.id, Reader.of(caller)).record


def update(thread_id: int, data: ThreadChanges, caller: Caller) -> Thread:
    """Change what is sent of an own thread."""
    columns = pictures.columns(data)
    thread = locked_thread(thread_id)
    check_owner(thread, caller)
    check_pseudonym(data.get("use_pseudonym", False), caller)
    moves_to = data.get("category_id", thread.category_id)
    if moves_to != thread.category_id:
        # In one order, so that no two moves wait for one another.
        for category_id, step in sorted([(thread.category_id, -1), (moves_to, 1)]):
            count_thread(category_id, step)
    change(thread, columns, caller)
    return read_thread(db.session.connection(), thread.id, Reader.of(caller)).record


def delete(thread_id: int, caller: Caller) -> None:
    """Delete a thread with its replies, marks and pictures."""
    thread = locked_thread(thread_id)
    check_may_delete(thread, caller)
    images = sa.select(ForumReply.image).where(ForumReply.thread_id == thread_id)
    own_pictures.discard(thread.image, *db.session.scalars(images))
    notices.thread_deleted(thread_id)
    category_id = thread.category_id
    db.session.delete(thread)
    db.session.flush()
    count_thread(category_id, -1)
