"""Notices of the forum: messages about replies for the thread's author, and broadcasts about new threads.

A broadcast goes to the people whose preferences contain the category's tag. The worker renders each text just before
it sends the message. A text never contains the real name of somebody who uses a pseudonym. Names and titles come from
strangers. Links are therefore broken in both, and phone numbers are removed from titles.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.contact import ask_administrator
from app.core.database import db_time
from app.core.database.session import db
from app.core.lib.break_links import break_links, message_title
from app.forum.models import ForumBlock, ForumCategory, ForumReply, ForumThread, ReplyNotice
from app.forum.service.reads.posts import ANONYMOUS
from app.identity.models import User
from app.notifications import outbox
from app.notifications.broadcasts import fan_out
from app.notifications.broadcasts import service as broadcasts
from app.notifications.delivery import rendering
from app.notifications.delivery.claims import Claimed, UnwantedError
from app.notifications.delivery.sealing import Words
from app.notifications.messages import notify_user
from app.notifications.models import OPEN, About, Channel, Delivery, DeliveryState

THREAD_KIND = "forum_thread"

REPLY_KIND = "forum_reply"

#: An unsent message about replies expires this time after its due time.
REPLY_EXPIRES = timedelta(hours=24)

#: Minimum time between two messages about replies to one person. The second message covers all replies since the first.
REPLY_PAUSE = timedelta(minutes=10)

#: Time after which an overdue message counts as stuck. New replies are added to the stuck message.
STUCK = timedelta(minutes=1)

#: Kind of the deliveries that `verdicts` creates.
VERDICT_KIND = "post_moderated"

#: Notice to an author after a moderator has seen the name behind the pseudonym.
LIFTED_KIND = "pseudonym_lifted"
LIFTED = "Seorang moderator membuka nama di balik nama samaran Anda di forum. Hal ini tercatat."
LIFTED_TITLE = "Nama samaran Anda"
LIFTED_EXPIRES = timedelta(days=7)


def thread_written(thread: ForumThread, *, is_held: bool = False) -> None:
    """Create the broadcast about a new thread. With `is_held`, hold the broadcast until a moderator decides."""
    broadcasts.announce(
        _about(thread.id),
        preference_tag=_category(thread).preference_tag,
        except_user_id=thread.user_id,
        is_held=is_held,
    )


def thread_changed(thread: ForumThread) -> None:
    """Change the recipients of a thread's broadcast to the people with the preference tag of the new category."""
    broadcasts.retag(_about(thread.id), _category(thread).preference_tag)


def _category(thread: ForumThread) -> ForumCategory:
    return db.session.get_one(ForumCategory, thread.category_id)


def thread_held(thread_id: int) -> None:
    """Stop the thread's broadcast until `thread_released` is called."""
    broadcasts.hold(_about(thread_id))


def thread_released(thread_id: int) -> None:
    broadcasts.release(_about(thread_id))


def thread_hidden(thread_id: int) -> None:
    thread_held(thread_id)
    _leave_out(thread_id)


def thread_deleted(thread_id: int) -> None:
    broadcasts.withdraw(_about(thread_id))
    _leave_out(thread_id)


def _leave_out(thread_id: int) -> None:
    """Remove a thread from the unsent messages about replies. Cancel the messages that are about this thread only."""
    waiting = sa.select(Delivery).where(
        *outbox.is_about(_about(thread_id)), Delivery.kind == REPLY_KIND, Delivery.state.in_(OPEN)
    )
    for delivery in db.session.scalars(waiting).all():
        values = {**_values(delivery), "without_id": thread_id}
        other = db.session.execute(_replies, values).first()
        if other is None:
            outbox.cancel_one(delivery.dedupe_key)
        else:
            delivery.about_id = other.thread_id
    db.session.flush()


def render_threads(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the texts of broadcasts about threads.

    Raise `UnwantedError` if a thread is hidden, or if the recipient has blocked its author.
    """
    return {each.id: _announced(each) for each in deliveries}


def _announced(delivery: Claimed) -> Words:
    row = db.session.execute(_SHOWN, {"id": delivery.about_id, "recipient_id": delivery.user_id}).one_or_none()
    if row is None:
        raise UnwantedError("hidden")
    return {"text": f"Utas baru di forum {break_links(row.name)}:{quoted(row.title)}".removesuffix(":")}


def reply_written(thread: ForumThread, reply: ForumReply) -> None:
    """Notify the thread's author of a reply, at most once per `REPLY_PAUSE`.

    Replies within `REPLY_PAUSE` after a message are collected in the next message.
    Skip the author's own replies, and replies of people whom the author has blocked. `thread` must be locked.
    """
    if thread.user_id is None or thread.user_id == reply.user_id or _is_unwanted(thread, reply):
        return
    notice = _latest_notice(thread.user_id, thread.use_pseudonym, reply.id)
    now = db_time.now()
    if notice.first_id != reply.id and notice.due_at <= now:
        if _waits(notice, now):
            return
        notice.due_at, notice.first_id = _next_due(notice, now), reply.id
    outbox.add(
        outbox.NewDelivery(
            kind=REPLY_KIND,
            channel=Channel.MESSAGING,
            dedupe_key=f"forum_reply:{notice.first_id}",
            payload={"first_id": notice.first_id, "by_alias": notice.by_alias},
            due_at=notice.due_at,
            expires_at=notice.due_at + REPLY_EXPIRES,
            user_id=thread.user_id,
            about=_about(thread.id),
        )
    )


def _latest_notice(user_id: int, by_alias: bool, reply_id: int) -> ReplyNotice:
    """Lock and return the row of a person's latest message about replies. Insert the row if it is missing.

    The message of a new row is due now. With `by_alias`, the message of the new row is due at least `REPLY_PAUSE` after
    the message about named threads.
    """
    due_at = db_time.now()
    if by_alias and (named := db.session.get(ReplyNotice, (user_id, False), populate_existing=True)) is not None:
        due_at = max(due_at, named.due_at + REPLY_PAUSE)
    first = insert(ReplyNotice).values(user_id=user_id, by_alias=by_alias, due_at=due_at, first_id=reply_id)
    db.session.execute(first.on_conflict_do_nothing())
    return db.session.get_one(ReplyNotice, (user_id, by_alias), with_for_update=True, populate_existing=True)


def _waits(notice: ReplyNotice, now: datetime) -> bool:
    """Return whether the latest message is unsent and will include the new reply.

    Such a message may wait for the end of quiet hours, or may be stuck. Lock the message's row until the commit of the
    reply, so that no worker renders the text without the reply.
    """
    waiting = sa.select(Delivery.id).where(
        Delivery.user_id == notice.user_id,
        Delivery.kind == REPLY_KIND,
        Delivery.payload["first_id"].astext == str(notice.first_id),
        Delivery.state == DeliveryState.PENDING,
        sa.or_(Delivery.next_try_at > now, Delivery.next_try_at < now - STUCK),
    )
    return db.session.scalar(waiting.with_for_update(skip_locked=True)) is not None


def _next_due(notice: ReplyNotice, now: datetime) -> datetime:
    """Return the due time of the next message. It is at least `REPLY_PAUSE` after the latest message.

    The pause begins at the due time or at the sending time of the latest message, whichever is later. With `by_alias`,
    the pause does not begin before the due time of the message about named threads.
    """
    sent_at = db.session.scalar(
        sa.select(sa.func.max(Delivery.settled_at)).where(
            Delivery.user_id == notice.user_id,
            Delivery.kind == REPLY_KIND,
            Delivery.payload["first_id"].astext == str(notice.first_id),
            Delivery.state == DeliveryState.SENT,
        )
    )
    latest = max(notice.due_at, sent_at or notice.due_at)
    if notice.by_alias and (named := db.session.get(ReplyNotice, (notice.user_id, False))) is not None:
        latest = max(latest, named.due_at)
    return max(now, latest + REPLY_PAUSE)


def _is_blocked_by(user_id: object) -> sa.ColumnElement[bool]:
    """Return an SQL condition that is true if a person has blocked the name or pseudonym that a reply shows."""
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
    blocked = sa.select(ForumReply.id).where(ForumReply.id == reply.id, _is_blocked_by(thread.user_id))
    return db.session.scalar(blocked) is not None


def render_replies(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the texts of messages about replies. A message has no text if all its replies are deleted or hidden."""
    return {each.id: words for each in deliveries if (words := _text_of(each))}


def _text_of(delivery: Claimed) -> Words | None:
    """Return the text of a message about replies. Replies that belong to the next message do not count."""
    row = db.session.execute(_replies, _values(delivery)).first()
    if row is None:
        return None
    name = break_links((row.nama_samaran if row.use_pseudonym else row.nama_ktp) or ANONYMOUS)
    threads = f"{row.threads} utas Anda" if row.threads > 1 else f"utas Anda{quoted(row.title)}"
    if row.replies > 1:
        return {"text": f"Ada balasan dari {name} dan {row.replies - 1} balasan lain di {threads} di forum."}
    return {"text": f"{name} membalas {threads} di forum."}


def _values(delivery: Claimed | Delivery) -> dict[str, object]:
    return {
        "user_id": delivery.user_id,
        "thread_id": delivery.about_id,
        "first_id": delivery.payload["first_id"],
        "by_alias": delivery.payload.get("by_alias"),
        "without_id": 0,
    }


_user_id = sa.bindparam("user_id", type_=sa.BigInteger)
_by_alias = sa.bindparam("by_alias", type_=sa.Boolean)
_first_id = sa.bindparam("first_id", type_=sa.BigInteger)
_waiting_id = sa.cast(Delivery.payload["first_id"].astext, sa.BigInteger)
#: Id of the reply with which the next message begins. The current message covers only replies with smaller ids.
_next_id = sa.func.least(
    sa.select(ReplyNotice.first_id)
    .where(ReplyNotice.user_id == _user_id, ReplyNotice.by_alias == _by_alias, ReplyNotice.first_id > _first_id)
    .scalar_subquery(),
    sa.select(sa.func.min(_waiting_id))
    .where(
        Delivery.user_id == _user_id,
        Delivery.kind == REPLY_KIND,
        Delivery.payload["by_alias"].astext == sa.cast(_by_alias, sa.Text),
        Delivery.state.in_(OPEN),
        _waiting_id > _first_id,
    )
    .scalar_subquery(),
)
#: Query for the replies that one message covers. Each row has the total number of these replies (`replies`).
#: `nth_thread` numbers the threads of these replies, from 1.
_covered = (
    sa.select(
        ForumReply.id,
        ForumThread.id.label("thread_id"),
        ForumThread.title,
        ForumReply.use_pseudonym,
        User.nama_samaran,
        User.nama_ktp,
        sa.func.count().over().label("replies"),
        sa.func.dense_rank().over(order_by=ForumThread.id).label("nth_thread"),
    )
    .join(ForumReply, ForumReply.thread_id == ForumThread.id)
    .join(User, User.id == ForumReply.user_id)
    .where(
        ForumThread.user_id == _user_id,
        # Include the thread of the message's first reply, even if the thread's author has since changed from name to
        # pseudonym or back.
        sa.or_(ForumThread.use_pseudonym == _by_alias, ForumThread.id == sa.bindparam("thread_id")),
        ForumThread.id != sa.bindparam("without_id"),
        ForumThread.hidden_reason.is_(None),
        ForumReply.id >= _first_id,
        sa.func.coalesce(ForumReply.id < _next_id, sa.true()),
        ForumReply.user_id.is_distinct_from(ForumThread.user_id),
        ~ForumReply.is_deleted,
        ForumReply.hidden_reason.is_(None),
        ~_is_blocked_by(ForumThread.user_id),
    )
    .subquery()
)
_replies = (
    sa.select(_covered, sa.func.max(_covered.c.nth_thread).over().label("threads")).order_by(_covered.c.id).limit(1)
)


def pseudonym_lifted(user_id: int, case_id: int) -> None:
    """Notify an author, by message and push, that a moderator has seen the name behind their pseudonym."""
    notify_user(user_id, kind=LIFTED_KIND, dedupe_key=f"{LIFTED_KIND}:{case_id}", expires_in=LIFTED_EXPIRES)


def render_lifted(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    text = LIFTED + ask_administrator("Kalau ingin bertanya,")
    return {each.id: rendering.notice(each, text=text, title=LIFTED_TITLE, body=text) for each in deliveries}


def shows_pseudonym(user_id: int) -> sa.ColumnElement[bool]:
    """Return an SQL condition that is true for deliveries that may reveal this person's pseudonym to administrators.

    Examples are messages about replies to a pseudonymous thread. Administrators could compare the sending time of
    such a message with the time of the replies. Broadcasts about threads are included too. Everybody except the author
    may get such a broadcast. A person without the broadcast may therefore be the author.
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
    """Return a title in quotation marks after a blank, for example ` “Menu harian”`.

    Return "" if the title is only a phone number.
    """
    short = message_title(title)
    return f" “{short}”" if short else ""
