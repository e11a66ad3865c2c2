"""What threads and replies have in common when they are written: whose they are, their picture, their pseudonym."""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa

from app.core.database.session import assign, db, get_locked_or_404
from app.core.errors import Forbidden, NotFound, ValidationFailed
from app.core.media import pictures
from app.forum.models import ForumReply, ForumThread
from app.forum.service.reads.posts import REPLY_NOT_FOUND, THREAD_NOT_FOUND
from app.identity import own_pictures
from app.identity.models import User
from app.identity.sessions import Caller

Post = ForumThread | ForumReply


def lock_thread(thread_id: int) -> ForumThread:
    """A thread as it is now, locked before all that belongs to it."""
    return get_locked_or_404(ForumThread, thread_id, THREAD_NOT_FOUND)


def lock_reply(reply_id: int, *, thread_is_locked: bool = False) -> ForumReply:
    """A reply as it is now, locked after its thread."""
    if not thread_is_locked:
        lock_thread(thread_of(reply_id))
    reply = get_locked_or_404(ForumReply, reply_id, REPLY_NOT_FOUND)
    if reply.is_deleted:
        raise NotFound(REPLY_NOT_FOUND)
    return reply


def thread_of(reply_id: int) -> int:
    """The thread that a reply is in."""
    thread_id = db.session.scalar(sa.select(ForumReply.thread_id).where(ForumReply.id == reply_id))
    if thread_id is None:
        raise NotFound(REPLY_NOT_FOUND)
    return thread_id


def check_pseudonym(use_pseudonym: bool, caller: Caller) -> None:
    """`ValidationFailed` for somebody who wants to write under a pseudonym and has none in their profile."""
    if not use_pseudonym:
        return
    if not db.session.scalar(sa.select(User.nama_samaran).where(User.id == caller.id)):
        raise ValidationFailed({"use_pseudonym": ["membutuhkan nama samaran di profil."]})


def check_owner(post: Post, caller: Caller) -> None:
    """`Forbidden` for all but the author."""
    if post.user_id != caller.id:
        raise Forbidden("Hanya penulisnya yang boleh melakukan ini.", code="not_the_owner")


def change(post: Post, columns: Mapping[str, object], caller: Caller) -> None:
    """Set the columns of a caller's own post; a picture that is replaced or removed is deleted after the commit."""
    own_pictures.keep(caller.id, columns, replaces=post.image)
    assign(post, {**columns, "updated_at": sa.func.now()})
    if post.hidden_reason is not None and "image" in columns:
        pictures.hide(post.image)
