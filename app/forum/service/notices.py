"""Notices of the forum: of a reply to the thread's author, of a new thread to those whom its category concerns.

Their words are read when they leave. A text never names who wrote under a pseudonym.
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
from app.notifications.broadcasts import fan_out
from app.notifications.broadcasts import service as broadcasts
from app.notifications.delivery import rendering
from app.notifications.delivery.claims import Claimed, UnwantedError
from app.notifications.delivery.sealing import Words
from app.notifications.messages import tell_user
from app.notifications.models import OPEN, About, Channel, Delivery

THREAD_KIND = "forum_thread"

REPLY_KIND = "forum_reply"

#: A message about a reply that has not been sent by then is not sent any more.
REPLY_EXPIRES = timedelta(hours=24)

#: After a message about replies the next one waits so long, and tells of all replies that came in between.
REPLY_PAUSE = timedelta(minutes=10)

#: See `verdicts`.
VERDICT_KIND = "post_moderated"

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
    broadcasts.announce(
        _about(thread.id),
        preference_tag=_category(thread).preference_tag,
        except_user_id=thread.user_id,
        is_held=is_held,
    )


def thread_changed(thread: ForumThread) -> None:
    """Announce a thread to those whom its category concerns now."""
    broadcasts.retag(_about(thread.id), _category(thread).preference_tag)


def _category(thread: ForumThread) -> ForumCategory:
    return db.session.get_one(ForumCategory, thread.category_id)


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


def render_threads(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Read the words of broadcasts of threads.

    Raise `UnwantedError` if a thread is hidden, or its author is blocked by who would read of it.
    """
    return {each.id: _announced(each) for each in deliveries}


def _announced(delivery: Claimed) -> Words:
    with autocommit() as connection:
        row = connection.execute(_SHOWN, {"id": delivery.about_id, "recipient_id": delivery.user_id}).one_or_none()
    if row is None:
        raise UnwantedError("hidden")
    return {"text": f"Utas baru di forum {without_contacts(row.name)}:{quoted(row.title)}".removesuffix(":")}


def reply_written(thread: ForumThread, reply: ForumReply) -> None:
    """Notify the thread's author, unless it is their own reply: at most once in `REPLY_PAUSE`.

    What is written within that time after a message waits for the next one, which tells of all of it when it leaves.
    `thread` is locked.
    """
    if thread.user_id is None or thread.user_id == reply.user_id or _is_unwanted(thread, reply):
        return
    now = database_clock.now()
    if thread.notice_due_at is None or thread.notice_due_at <= now:
        pause_ends = now if thread.notice_due_at is None else thread.notice_due_at + REPLY_PAUSE
        thread.notice_due_at, thread.notice_reply_id = max(now, pause_ends), reply.id
    due_at = thread.notice_due_at
    outbox.add(
        outbox.Draft(
            kind=REPLY_KIND,
            channel=Channel.MESSAGING,
            dedupe_key=f"forum_reply:{thread.notice_reply_id}",
            payload={"first_id": thread.notice_reply_id},
            due_at=due_at,
            expires_at=due_at + REPLY_EXPIRES,
            user_id=thread.user_id,
            about=_about(thread.id),
        )
    )


def _is_blocked_by(user_id: object) -> sa.ColumnElement[bool]:
    """Whether somebody has blocked whom a reply shows as its author."""
    return sa.exists().where(
        ForumBlock.user_id == user_id,
        ForumBlock.blocked_id == ForumReply.user_id,
        ForumBlock.use_pseudonym == ForumReply.use_pseudonym,
    )


_SHOWN = (
    sa.select(ForumThread.title, ForumCategory.name)
    .join(ForumCategory, ForumCategory.id == ForumThread.category_id)
    .where(
        ForumThread.id == sa.bindparam("id"),
        ForumThread.hidden_reason.is_(None),
        ~sa.exists().where(
            ForumBlock.user_id == sa.bindparam("recipient_id"),
            ForumBlock.blocked_id == ForumThread.user_id,
            ForumBlock.use_pseudonym == ForumThread.use_pseudonym,
        ),
    )
)


def _is_unwanted(thread: ForumThread, reply: ForumReply) -> bool:
    """Whether the thread's author has blocked whoever replied: then nothing is sent, and nothing waits for it."""
    blocked = sa.select(ForumReply.id).where(ForumReply.id == reply.id, _is_blocked_by(thread.user_id))
    return db.session.scalar(blocked) is not None


def render_replies(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Read the words of messages about replies. A message whose replies are all gone has none."""
    return {each.id: words for each in deliveries if (words := _told(each))}


def _told(delivery: Claimed) -> Words | None:
    """Return the words about replies of others, from the message's first reply to that of the next message."""
    with autocommit() as connection:
        row = connection.execute(_replies, {"id": delivery.about_id, "first_id": delivery.payload["first_id"]}).first()
    if row is None:
        return None
    name = without_addresses((row.nama_samaran if row.use_pseudonym else row.nama_ktp) or ANONYMOUS) or SOMEBODY
    place = f"utas Anda{quoted(row.title)}"
    if row.replies > 1:
        return {"text": f"Ada balasan dari {name} dan {row.replies - 1} balasan lain di {place} di forum."}
    return {"text": f"{name} membalas {place} di forum."}


_first_id = sa.bindparam("first_id", type_=sa.BigInteger)
_waiting_id = sa.cast(Delivery.payload["first_id"].astext, sa.BigInteger)
#: The first reply of the next message: of the latest, or in quiet hours of another one that waits.
_next_id = sa.func.least(
    sa.case((ForumThread.notice_reply_id > _first_id, ForumThread.notice_reply_id)),
    sa.select(sa.func.min(_waiting_id))
    .where(
        Delivery.about_type == THREAD_KIND,
        Delivery.about_id == ForumThread.id,
        Delivery.kind == REPLY_KIND,
        Delivery.state.in_(OPEN),
        _waiting_id > _first_id,
    )
    .correlate(ForumThread)
    .scalar_subquery(),
)
_replies = (
    sa.select(
        ForumThread.title,
        ForumReply.use_pseudonym,
        User.nama_samaran,
        User.nama_ktp,
        sa.func.count().over().label("replies"),
    )
    .join(ForumReply, ForumReply.thread_id == ForumThread.id)
    .join(User, User.id == ForumReply.user_id)
    .where(
        ForumThread.id == sa.bindparam("id"),
        ForumReply.id >= _first_id,
        sa.func.coalesce(ForumReply.id < _next_id, sa.true()),
        ForumReply.user_id.is_distinct_from(ForumThread.user_id),
        ~ForumReply.is_deleted,
        ForumReply.hidden_reason.is_(None),
        ~_is_blocked_by(ForumThread.user_id),
    )
    .order_by(ForumReply.id)
    .limit(1)
)


def pseudonym_lifted(user_id: int, case_id: int) -> None:
    """Tell an author, by message and push, that a moderator has learnt who they are. The text itself names neither of
    the two."""
    tell_user(user_id, kind=LIFTED_KIND, dedupe_key=f"{LIFTED_KIND}:{case_id}", expires_in=LIFTED_EXPIRES)


def render_lifted(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the words of notices that a pseudonym was lifted."""
    return {each.id: rendering.notice(each, text=LIFTED, title=LIFTED_TITLE, body=LIFTED) for each in deliveries}


def shows_pseudonym(user_id: int) -> sa.ColumnElement[bool]:
    """Whether a delivery to this person shows to others that they wrote under their pseudonym: by when it was sent.

    So does each about replies, but for those to a thread that stands under their name. A broadcast of a thread does by
    being there: of all whom it concerns its author alone has none.
    """
    named = sa.select(ForumThread.id).where(ForumThread.user_id == user_id, ~ForumThread.use_pseudonym)
    is_named = sa.func.coalesce(Delivery.about_id, 0).in_(named)
    is_of_thread = sa.func.coalesce(Delivery.about_type == THREAD_KIND, sa.false())
    return sa.or_(
        Delivery.kind.in_([LIFTED_KIND, VERDICT_KIND]),
        sa.and_(Delivery.kind == REPLY_KIND, ~is_named),
        sa.and_(Delivery.kind == fan_out.KIND, is_of_thread),
    )


def _about(thread_id: int) -> About:
    return About(THREAD_KIND, thread_id)


def quoted(title: str) -> str:
    """Return ` “Menu harian”`: the title without contacts and not too long, or nothing if nothing is left."""
    title = without_contacts(title)
    short = title if len(title) <= MAX_TITLE else title[: MAX_TITLE - 1] + "…"
    return f" “{short}”" if short else ""
