"""Rules that threads and replies share: the order of locks, ownership, pictures and pseudonyms.

A post is a thread or a reply. Every transaction locks rows in this order, so that two transactions never deadlock:

1. threads, by id
2. replies, by id
3. rows that belong to a locked post: its likes and saves, its moderation case, its messages
4. people
5. categories, by id, as late as possible, because all writers in a category wait for the lock

Lock a post FOR NO KEY UPDATE before you insert a row with a foreign key to the post. The foreign key alone takes only
a FOR KEY SHARE lock. PostgreSQL grants this weaker lock while another transaction likes the same post, and the two
transactions can then deadlock.
"""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa

from app.core.database.session import assign, db, get_locked_or_404, get_or_404
from app.core.errors import Forbidden, NotFound, ValidationFailed
from app.core.media import pictures
from app.forum.models import ForumCategory, ForumReply, ForumThread
from app.forum.service.reads.posts import REPLY_NOT_FOUND, THREAD_NOT_FOUND
from app.identity import own_pictures
from app.identity.models import User
from app.identity.sessions import Caller

Post = ForumThread | ForumReply
PostType = type[ForumThread] | type[ForumReply]


def get(kind: PostType, post_id: int) -> Post:
    """Return a post. Raise `NotFound` for an unknown post and for a deleted reply."""
    if kind is ForumThread:
        return get_or_404(ForumThread, post_id, THREAD_NOT_FOUND)
    reply = get_or_404(ForumReply, post_id, REPLY_NOT_FOUND)
    if reply.is_deleted:
        raise NotFound(REPLY_NOT_FOUND)
    return reply


def lock(kind: PostType, post_id: int) -> Post:
    return lock_thread(post_id) if kind is ForumThread else lock_reply(post_id)


def lock_thread(thread_id: int) -> ForumThread:
    return get_locked_or_404(ForumThread, thread_id, THREAD_NOT_FOUND, key_share=True)


def lock_reply(reply_id: int) -> ForumReply:
    """Lock a reply's thread, then the reply. Return the reply's current row."""
    thread_id = db.session.scalar(sa.select(ForumReply.thread_id).where(ForumReply.id == reply_id))
    if thread_id is None:
        raise NotFound(REPLY_NOT_FOUND)
    lock_thread(thread_id)
    reply = get_locked_or_404(ForumReply, reply_id, REPLY_NOT_FOUND, key_share=True)
    if reply.is_deleted:
        raise NotFound(REPLY_NOT_FOUND)
    return reply


def check_pseudonym(use_pseudonym: bool, caller: Caller) -> None:
    """Raise `ValidationFailed` if the caller asks for a pseudonym but has none in their profile."""
    if not use_pseudonym:
        return
    if not db.session.scalar(sa.select(User.nama_samaran).where(User.id == caller.id)):
        raise ValidationFailed({"use_pseudonym": ["membutuhkan nama samaran di profil."]})


def check_category(category_id: int) -> None:
    """Raise `ValidationFailed` for an unknown category."""
    if db.session.get(ForumCategory, category_id) is None:
        raise ValidationFailed({"category_id": ["tidak dikenal."]})


def check_owner(post: Post, caller: Caller) -> None:
    """Raise `Forbidden` unless the caller is the author."""
    if post.user_id != caller.id:
        raise Forbidden("Hanya penulisnya yang boleh melakukan ini.", code="not_the_owner")


def change(post: Post, columns: Mapping[str, object], caller: Caller) -> None:
    """Set columns of the caller's own post. A replaced or removed picture is deleted after the commit."""
    own_pictures.keep(caller.id, columns, replaces=post.image)
    assign(post, {**columns, "updated_at": sa.func.now()})
    if (post.hidden_reason is not None or post.image_is_held) and "image" in columns:
        pictures.hide(post.image)
