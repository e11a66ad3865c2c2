"""Notices of the forum: of a reply to the thread's author, of a new thread to those whom its category concerns.

A text never names who wrote under a pseudonym, and one that waits is cancelled when what it says no longer holds.
"""

from __future__ import annotations

from datetime import timedelta

from app.core.database.session import db
from app.forum.models import ForumCategory, ForumReply, ForumThread
from app.forum.service.reads.posts import ANONYMOUS
from app.identity.models import User
from app.notifications import outbox
from app.notifications.broadcasts import service as broadcasts
from app.notifications.messages import message_user

#: A message about a reply that has not been sent by then is not sent any more.
REPLY_EXPIRES = timedelta(hours=24)

#: Characters of a thread's title in a text.
MAX_TITLE = 80


def thread_written(thread: ForumThread) -> None:
    category = db.session.get_one(ForumCategory, thread.category_id)
    broadcasts.announce(
        kind="forum_thread",
        subject=_thread(thread.id),
        text=f"Utas baru di forum {category.name}: “{_short(thread.title)}”",
        preference_tag=category.preference_tag,
        except_user_id=thread.user_id,
    )


def thread_deleted(thread_id: int) -> None:
    broadcasts.withdraw(_thread(thread_id))
    outbox.cancel(_replies_of(thread_id))


def reply_written(thread: ForumThread, reply: ForumReply) -> None:
    """Notify the thread's author, unless it is their own reply."""
    if thread.user_id is None or thread.user_id == reply.user_id:
        return
    replier = db.session.get_one(User, reply.user_id)
    name = (replier.nama_samaran or ANONYMOUS) if reply.use_pseudonym else replier.nama_ktp
    message_user(
        thread.user_id,
        f"{name} membalas utas Anda “{_short(thread.title)}” di forum.",
        kind="forum_reply",
        dedupe_key=_reply(reply.id),
        expires_in=REPLY_EXPIRES,
        subject=_replies_of(thread.id),
    )


def reply_changed(reply: ForumReply) -> None:
    """Replace a message that still waits by one that says what holds now."""
    if outbox.cancel_one(_reply(reply.id)):
        reply_written(db.session.get_one(ForumThread, reply.thread_id), reply)


def reply_deleted(reply_id: int) -> None:
    outbox.cancel_one(_reply(reply_id))


def _thread(thread_id: int) -> str:
    return f"forum_thread:{thread_id}"


def _replies_of(thread_id: int) -> str:
    return f"forum_thread:{thread_id}:replies"


def _reply(reply_id: int) -> str:
    return f"forum_reply:{reply_id}"


def _short(title: str) -> str:
    return title if len(title) <= MAX_TITLE else title[: MAX_TITLE - 1] + "…"
