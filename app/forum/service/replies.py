"""Replies: a tree of bounded depth; a deleted one stays as a stub as long as something hangs below it."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from app.core.database.session import db
from app.core.errors import NotFound, ValidationFailed
from app.core.media import pictures
from app.forum.models import MAX_DEPTH, ForumReply, ForumThread, ReplyMark
from app.forum.service import notices, reads
from app.forum.service.posts import change, check_may_delete, check_owner, check_pseudonym, take_picture
from app.identity.sessions import Caller


def create(thread_id: int, data: dict[str, Any], caller: Caller) -> reads.Record:
    """A reply to a thread, or to one of its replies; the thread's author is told."""
    take_picture(data)
    check_pseudonym(data, caller)
    thread = _count(thread_id, 1)
    place = _place(thread_id, data.pop("parent_id"))
    reply = ForumReply(thread_id=thread_id, user_id=caller.id, **place, **data)
    db.session.add(reply)
    db.session.flush()
    notices.reply_written(thread, reply)
    return reads.reply(db.session.connection(), thread_id, reply.id, caller.id)


def update(reply_id: int, data: dict[str, Any], caller: Caller) -> reads.Record:
    """Change what is sent of an own reply."""
    take_picture(data)
    reply = _locked(reply_id)
    check_owner(reply, caller)
    check_pseudonym(data, caller)
    change(reply, data)
    notices.reply_changed(reply)
    return reads.reply(db.session.connection(), reply.thread_id, reply.id, caller.id)


def delete(reply_id: int, caller: Caller) -> None:
    """Delete a reply and whatever stubs it alone held up; with replies below it, it becomes a stub itself."""
    thread_id = db.session.scalar(sa.select(ForumReply.thread_id).where(ForumReply.id == reply_id))
    if thread_id is None:
        raise NotFound(reads.NO_REPLY)
    # The thread first: whoever writes or deletes a reply holds it, so nothing is hung below a reply that goes.
    _count(thread_id, -1)
    reply = _locked(reply_id)
    check_may_delete(reply, caller)
    pictures.discard(reply.image)
    notices.reply_deleted(reply_id)
    db.session.execute(sa.delete(ReplyMark).where(ReplyMark.reply_id == reply_id))
    reply.is_deleted = True
    reply.content = reply.image = reply.user_id = None
    reply.likes_count = reply.saves_count = 0
    db.session.flush()
    _prune(reply)


def _place(thread_id: int, parent_id: int | None) -> dict[str, int | None]:
    """Where a reply hangs: below its parent, or beside it on the last level."""
    if parent_id is None:
        return {"parent_id": None, "depth": 1}
    parent = db.session.get(ForumReply, parent_id)
    if parent is None or parent.thread_id != thread_id or parent.is_deleted:
        raise ValidationFailed({"parent_id": ["balasan tidak ada di utas ini."]})
    if parent.depth >= MAX_DEPTH:
        return {"parent_id": parent.parent_id, "depth": MAX_DEPTH}
    return {"parent_id": parent.id, "depth": parent.depth + 1}


def _prune(reply: ForumReply) -> None:
    """Remove a stub that holds nothing, then the one above it."""
    parent_id: int | None = reply.id
    while parent_id is not None:
        below = sa.orm.aliased(ForumReply)
        parent_id = db.session.scalar(
            sa.delete(ForumReply)
            .where(
                ForumReply.id == parent_id,
                ForumReply.is_deleted,
                ~sa.exists().where(below.parent_id == ForumReply.id),
            )
            .returning(ForumReply.parent_id)
            .execution_options(synchronize_session=False)
        )


def _locked(reply_id: int) -> ForumReply:
    reply = db.session.get(ForumReply, reply_id, with_for_update=True)
    if reply is None or reply.is_deleted:
        raise NotFound(reads.NO_REPLY)
    return reply


def _count(thread_id: int, step: int) -> ForumThread:
    """Keep the number of replies in their thread's row, and hold that row until the end."""
    thread = db.session.scalar(
        sa.update(ForumThread)
        .where(ForumThread.id == thread_id)
        .values(replies_count=ForumThread.replies_count + step)
        .returning(ForumThread)
        .execution_options(synchronize_session=False)
    )
    if thread is None:
        raise NotFound(reads.NO_THREAD)
    return thread
