"""Create, list, update and delete replies.

Replies form a tree of limited depth. A deleted reply with replies below it stays as a stub without text and author.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import orm

from app.core.database.session import db
from app.core.errors import Conflict, ValidationFailed
from app.core.media import pictures
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing
from app.forum.models import MAX_DEPTH, ForumReply, ForumThread, ReplyMark
from app.forum.schemas import ReplyQuery
from app.forum.service import cases, crisis, hiding, notices
from app.forum.service.counters import count_reply
from app.forum.service.crisis import Help
from app.forum.service.posts import change, check_owner, check_pseudonym, lock_reply
from app.forum.service.reads.posts import Record
from app.forum.service.reads.replies import read_reply
from app.forum.service.reads.reply_list import read_list
from app.identity import own_pictures
from app.identity.sessions import Caller


def list_own(query: ReplyQuery, caller_id: int) -> Listing[Record]:
    """Return one page of the replies that the caller has saved or written, newest first."""
    return read_list(query, caller_id)


def create(thread_id: int, data: Loaded, caller: Caller) -> Record:
    """Create a reply to a thread or to one of its replies, and notify the thread's author."""
    columns = pictures.columns(data)  # decode the picture before a transaction begins
    check_pseudonym(data["use_pseudonym"], caller)
    thread = count_reply(thread_id, 1)
    _check_shown(thread)
    place = _place(thread_id, data["parent_id"])
    own_pictures.keep(caller.id, columns)
    reply = ForumReply(thread_id=thread_id, user_id=caller.id, **{**columns, **place})
    db.session.add(reply)
    db.session.flush()
    help_ = crisis.check_post(reply)
    notices.reply_written(thread, reply)
    return _read(reply, help_, caller)


def update(reply_id: int, data: Loaded, caller: Caller) -> Record:
    columns = pictures.columns(data)
    reply = lock_reply(reply_id)
    check_owner(reply, caller)
    check_pseudonym(data.get("use_pseudonym", False), caller)
    change(reply, columns, caller)
    help_ = crisis.check_post(reply) if data.keys() & {"content", "image"} else None
    if help_ is not None:
        hiding.undo_reports(reply)
    return _read(reply, help_, caller)


def delete(reply_id: int, caller: Caller) -> None:
    reply = lock_reply(reply_id)
    check_owner(reply, caller)
    remove(reply)


def remove(reply: ForumReply) -> None:
    """Delete a reply. If other replies are below it, keep it as a stub without text and author.

    The thread must be locked. `create` locks the thread too, so nobody can reply to this reply before the commit.
    """
    cases.close(reply)
    count_reply(reply.thread_id, -1 if reply.hidden_reason is None else 0)
    own_pictures.discard(reply.image)
    db.session.execute(sa.delete(ReplyMark).where(ReplyMark.reply_id == reply.id))
    reply.is_deleted = True
    reply.content = reply.image = reply.user_id = reply.hidden_reason = None
    reply.image_is_held = False
    reply.likes_count = reply.saves_count = 0
    db.session.flush()
    _prune(reply)


def _read(reply: ForumReply, help_: Help | None, caller: Caller) -> Record:
    """Return the reply as its author sees it. Add the crisis help if there is any."""
    record = read_reply(reply.thread_id, reply.id, caller.id)
    return record if help_ is None else {**record, "help": help_}


def _check_shown(post: ForumThread | ForumReply) -> None:
    if post.hidden_reason is not None:
        raise Conflict("Tulisan ini disembunyikan moderator.", code="post_hidden")


def _place(thread_id: int, parent_id: int | None) -> dict[str, int | None]:
    """Return `parent_id` and `depth` of a new reply, and lock its parent.

    If the chosen parent is on the last level, use the parent of the chosen parent instead.
    """
    if parent_id is None:
        return {"parent_id": None, "depth": 1}
    parent = db.session.get(ForumReply, parent_id)
    if parent is None or parent.thread_id != thread_id or parent.is_deleted:
        raise ValidationFailed({"parent_id": ["tidak ada di utas ini."]})
    _check_shown(parent)
    is_last = parent.depth >= MAX_DEPTH
    above_id = parent.parent_id if is_last else parent.id
    db.session.execute(sa.select(ForumReply.id).where(ForumReply.id == above_id).with_for_update(key_share=True))
    return {"parent_id": above_id, "depth": MAX_DEPTH if is_last else parent.depth + 1}


def _prune(reply: ForumReply) -> None:
    """Delete a stub if no reply is below it. Then check its parent in the same way."""
    parent_id: int | None = reply.id
    while parent_id is not None:
        below = orm.aliased(ForumReply)
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
