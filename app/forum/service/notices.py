"""Notices of the forum: of a reply to the thread's author, of a new thread to those whom its category concerns.

A text never names who wrote under a pseudonym, and one that waits is cancelled when what it says no longer holds.
Names and titles are texts of strangers: web addresses are removed from both, and phone numbers from titles.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import sqlalchemy as sa

from app.core.database import clock as database_clock
from app.core.database.session import autocommit, db
from app.core.lib.addresses import without_addresses, without_contacts
from app.forum.models import ForumBlock, ForumCategory, ForumReply, ForumThread
from app.forum.service.reads.posts import ANONYMOUS
from app.identity.models import User
from app.notifications import outbox
from app.notifications.broadcasts import fan_out, sending
from app.notifications.broadcasts import service as broadcasts
from app.notifications.delivery import second_form
from app.notifications.delivery.claims import Claimed, UnwantedError
from app.notifications.messages import tell_user
from app.notifications.models import OPEN, About, Channel, Delivery

THREAD_KIND = "forum_thread"

REPLY_KIND = "forum_reply"

#: A message about a reply that has not been sent by then is not sent any more.
REPLY_EXPIRES = timedelta(hours=24)

#: After a message about replies the next one waits so long, and tells of all replies that came in between.
REPLY_PAUSE = timedelta(minutes=10)

#: What an author is told, and for how long that is tried.
LIFTED_KIND = "pseudonym_lifted"
LIFTED = (
    "Seorang moderator membuka nama di balik nama samaran Anda di forum. "
    "Hal ini tercatat. Untuk bertanya, silakan hubungi administrator."
)
LIFTED_TITLE = "Nama samaran Anda"
LIFTED_EXPIRES = timedelta(days=7)

#: Who has a name of nothing but web addresses.
SOMEBODY = "Seseorang"

#: Characters of a thread's title in a text.
MAX_TITLE = 80


def thread_written(thread: ForumThread, *, is_held: bool = False) -> None:
    """Announce a thread; one that `is_held` waits until a moderator has looked at it."""
    category = _category(thread)
    broadcasts.announce(
        _about(thread.id),
        text=_announced(thread, category),
        preference_tag=category.preference_tag,
        except_user_id=thread.user_id,
        is_held=is_held,
    )


def thread_changed(thread: ForumThread) -> None:
    """Announce what it is called now, in its category: the author may have taken something back."""
    category = _category(thread)
    broadcasts.reword(_about(thread.id), text=_announced(thread, category), preference_tag=category.preference_tag)


def _category(thread: ForumThread) -> ForumCategory:
    return db.session.get_one(ForumCategory, thread.category_id)


def _announced(thread: ForumThread, category: ForumCategory) -> str:
    return f"Utas baru di forum {without_contacts(category.name)}:{_quoted(thread.title)}".removesuffix(":")


def thread_held(thread_id: int) -> None:
    """Nobody else is told of the thread until `thread_released`."""
    broadcasts.hold(_about(thread_id))


def thread_released(thread_id: int) -> None:
    broadcasts.release(_about(thread_id))


def thread_hidden(thread_id: int) -> None:
    thread_held(thread_id)
    outbox.cancel(_about(thread_id), [REPLY_KIND])


def thread_deleted(thread_id: int) -> None:
    broadcasts.withdraw(_about(thread_id))
    outbox.cancel(_about(thread_id), [REPLY_KIND])


def check_recipient(delivery: Claimed) -> None:
    """As of any broadcast; one of a thread goes out only while the thread is shown, to who has not blocked its author.

    What was claimed when the thread was hidden stops here.
    """
    if delivery.about_type == THREAD_KIND:
        with autocommit() as connection:
            values = {"id": delivery.about_id, "recipient_id": delivery.user_id}
            if connection.execute(_IS_SHOWN, values).first() is None:
                raise UnwantedError("hidden")
    sending.check_recipient(delivery)


def reply_written(thread: ForumThread, reply: ForumReply) -> None:
    """Notify the thread's author, unless it is their own reply: at most once in `REPLY_PAUSE`.

    What is written within that time after a message waits for the next one, which tells of all of it. `thread` is
    locked.
    """
    if thread.user_id is None or thread.user_id == reply.user_id or _is_unwanted(thread, reply):
        return
    now = database_clock.now()
    if thread.notice_due_at is None or thread.notice_due_at <= now:
        pause_ends = now if thread.notice_due_at is None else thread.notice_due_at + REPLY_PAUSE
        thread.notice_due_at, thread.notice_reply_id = max(now, pause_ends), reply.id
    _tell_again(thread, reply.id)


def reply_changed(reply: ForumReply) -> None:
    """Replace a message that still waits by one that says what holds now."""
    _tell_again(db.session.get_one(ForumThread, reply.thread_id), reply.id, only_waiting=True)


def reply_removed(thread: ForumThread, reply_id: int) -> None:
    """Take a reply that is gone or hidden out of a message that waits, or the message back when it tells of no other.

    `thread` is locked.
    """
    _tell_again(thread, reply_id, only_waiting=True)


def lock_waiting_for(user_id: int) -> Sequence[ForumThread]:
    """The threads of a person about which messages wait for them, locked."""
    waiting = Delivery.user_id == user_id, Delivery.kind == REPLY_KIND, Delivery.state.in_(OPEN)
    thread_ids = db.session.scalars(sa.select(Delivery.about_id).where(*waiting).distinct()).all()
    threads = sa.select(ForumThread).where(ForumThread.id.in_(thread_ids)).order_by(ForumThread.id)
    return db.session.scalars(threads.with_for_update(key_share=True)).all()


def author_blocked(threads: Sequence[ForumThread]) -> None:
    """Take whom the author of these threads has just blocked out of the messages about replies that still wait."""
    for thread in threads:
        for first_id in _waiting(thread):
            _tell_again(thread, first_id, only_waiting=True)


def _tell_again(thread: ForumThread, reply_id: int, *, only_waiting: bool = False) -> None:
    """Put the message that tells of this reply into the outbox, in place of the one that waits there.

    It is called by its first reply. With `only_waiting` nothing is added where nothing waited.
    """
    latest, waiting = thread.notice_reply_id, _waiting(thread)
    is_latest = latest is not None and reply_id >= latest
    if latest is not None and is_latest:
        first_id, before_id = latest, None
    else:
        first_id = max((each for each in waiting if each <= reply_id), default=reply_id)
        before_id = min((each for each in waiting if each > first_id), default=latest or first_id + 1)
    key = waiting.get(first_id)
    if key is None and only_waiting:
        return
    payload = _payload(thread, first_id, before_id)
    if key == second_form.key_of(_reply(first_id)) and payload is not None:
        outbox.reword_one(key, payload)
        return
    if key is not None:
        outbox.cancel_one(key)
    if payload is None:
        return
    due_at = (thread.notice_due_at if is_latest else None) or database_clock.now()
    outbox.add(
        outbox.Draft(
            kind=REPLY_KIND,
            channel=Channel.MESSAGING,
            dedupe_key=_reply(first_id),
            payload=payload,
            due_at=due_at,
            expires_at=due_at + REPLY_EXPIRES,
            user_id=thread.user_id,
            about=_about(thread.id),
        )
    )


def _waiting(thread: ForumThread) -> dict[int, str]:
    """The keys of messages about the thread that have yet to leave, by their first replies: in quiet hours several."""
    which = *outbox.is_about(_about(thread.id)), Delivery.kind == REPLY_KIND, Delivery.state.in_(OPEN)
    keys = db.session.scalars(sa.select(Delivery.dedupe_key).where(*which))
    return {int(key.split(":")[1]): key for key in keys}


def _is_blocked_by(user_id: int | None) -> sa.ColumnElement[bool]:
    """Whether somebody has blocked whom a reply shows as its author."""
    return sa.exists().where(
        ForumBlock.user_id == user_id,
        ForumBlock.blocked_id == ForumReply.user_id,
        ForumBlock.use_pseudonym == ForumReply.use_pseudonym,
    )


_IS_SHOWN = sa.select(ForumThread.id).where(
    ForumThread.id == sa.bindparam("id"),
    ForumThread.hidden_reason.is_(None),
    ~sa.exists().where(
        ForumBlock.user_id == sa.bindparam("recipient_id"),
        ForumBlock.blocked_id == ForumThread.user_id,
        ForumBlock.use_pseudonym == ForumThread.use_pseudonym,
    ),
)


def _is_unwanted(thread: ForumThread, reply: ForumReply) -> bool:
    """Whether the thread's author has blocked whoever replied: then nothing is sent, and nothing waits for it."""
    blocked = sa.select(ForumReply.id).where(ForumReply.id == reply.id, _is_blocked_by(thread.user_id))
    return db.session.scalar(blocked) is not None


def _payload(thread: ForumThread, first_id: int, before_id: int | None) -> dict[str, object] | None:
    """The message about the replies of others from `first_id` on, up to `before_id`; None when all are deleted."""
    row = db.session.execute(
        sa.select(User.id, ForumReply.use_pseudonym, User.nama_samaran, User.nama_ktp, sa.func.count().over())
        .join(User, User.id == ForumReply.user_id)
        .where(
            ForumReply.thread_id == thread.id,
            ForumReply.id >= first_id,
            ForumReply.id < before_id if before_id is not None else sa.true(),
            ForumReply.user_id.is_distinct_from(thread.user_id),
            ~ForumReply.is_deleted,
            ForumReply.hidden_reason.is_(None),
            ~_is_blocked_by(thread.user_id),
        )
        .order_by(ForumReply.id)
        .limit(1)
    ).one_or_none()
    if row is None:
        return None
    user_id, use_pseudonym, nama_samaran, nama_ktp, count = row
    name = without_addresses((nama_samaran if use_pseudonym else nama_ktp) or ANONYMOUS) or SOMEBODY
    place = f"utas Anda{_quoted(thread.title)}"
    text = f"{name} membalas {place} di forum."
    if count > 1:
        text = f"Ada balasan dari {name} dan {count - 1} balasan lain di {place} di forum."
    return {"text": text, **outbox.naming(user_id)}


def pseudonym_lifted(user_id: int, case_id: int) -> None:
    """Tell an author, by message and push, that a moderator has learnt who they are. The text itself names neither of
    the two."""
    tell_user(
        user_id,
        text=LIFTED,
        title=LIFTED_TITLE,
        body=LIFTED,
        kind=LIFTED_KIND,
        dedupe_key=f"{LIFTED_KIND}:{case_id}",
        expires_in=LIFTED_EXPIRES,
    )


def shows_pseudonym(user_id: int) -> sa.ColumnElement[bool]:
    """Whether a delivery to this person shows to others that they wrote under their pseudonym: by when it was sent.

    So does each about replies, but for those to a thread that stands under their name. A broadcast of a thread does by
    being there: of all whom it concerns its author alone has none.
    """
    named = sa.select(ForumThread.id).where(ForumThread.user_id == user_id, ~ForumThread.use_pseudonym)
    is_named = sa.func.coalesce(Delivery.about_id, 0).in_(named)
    is_of_thread = sa.func.coalesce(Delivery.about_type == THREAD_KIND, sa.false())
    return sa.or_(
        Delivery.kind == LIFTED_KIND,
        sa.and_(Delivery.kind == REPLY_KIND, ~is_named),
        sa.and_(Delivery.kind == fan_out.KIND, is_of_thread),
    )


def _about(thread_id: int) -> About:
    return About(THREAD_KIND, thread_id)


def _reply(reply_id: int) -> str:
    return f"forum_reply:{reply_id}"


def _quoted(title: str) -> str:
    """Return ` “Menu harian”`: the title without contacts and not too long, or nothing if nothing is left."""
    title = without_contacts(title)
    short = title if len(title) <= MAX_TITLE else title[: MAX_TITLE - 1] + "…"
    return f" “{short}”" if short else ""
