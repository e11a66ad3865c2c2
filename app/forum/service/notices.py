"""Notices of the forum: messages about replies for the thread's author, and broadcasts about new threads.

A broadcast goes to the people whose preferences contain the category's tag. The worker renders each text just before
it sends the message. A text never contains the real name of somebody who uses a pseudonym. Names and titles come from
strangers. Links are therefore broken in both, and phone numbers are removed from titles.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from app.core.database import db_time
from app.core.database.session import db
from app.core.lib.break_links import break_links, message_title
from app.forum.models import ForumCategory, Post
from app.forum.service.reads import author_name, categories, is_blocked, posts, users
from app.notifications import outbox
from app.notifications.broadcasts import fan_out
from app.notifications.broadcasts import service as broadcasts
from app.notifications.delivery.claims import Claimed, UnwantedError
from app.notifications.delivery.sealing import Words
from app.notifications.models import About, Channel, Delivery, DeliveryState, deliveries

THREAD_KIND = "forum_thread"
REPLY_KIND = "forum_reply"
#: Kind of the notices to the authors of moderated posts. `app.forum.service.cases` creates them.
VERDICT_KIND = "post_moderated"

#: The first reply of this period is told at once. The later replies leave together at the end of the period.
BUCKET = timedelta(minutes=10)
#: An unsent message about replies expires this time after its due time.
REPLY_EXPIRES = timedelta(hours=24)


# --- broadcasts about threads. The functions do nothing for a reply. ------------------------------------------------


def announce(thread: Post) -> None:
    broadcasts.announce(_about(thread), preference_tag=_tag(thread), except_user_id=thread.user_id)


def retag(thread: Post) -> None:
    """Change the recipients of a thread's broadcast to the people with the preference tag of the new category."""
    broadcasts.retag(_about(thread), _tag(thread))


def hold(post: Post) -> None:
    """Stop the thread's broadcast until `release`."""
    if post.root_id is None:
        broadcasts.hold(_about(post))


def release(post: Post) -> None:
    if post.root_id is None:
        broadcasts.release(_about(post))


def withdraw(thread: Post) -> None:
    broadcasts.withdraw(_about(thread))


def _about(thread: Post) -> About:
    return About(THREAD_KIND, thread.id)


def _tag(thread: Post) -> str | None:
    return db.session.get_one(ForumCategory, thread.category_id).preference_tag


def render_threads(claimed: Sequence[Claimed]) -> dict[int, Words]:
    """Return the texts of broadcasts about threads.

    Raise `UnwantedError` if a thread is hidden, or if the recipient has blocked its author.
    """
    return {each.id: _announced(each) for each in claimed}


def _announced(delivery: Claimed) -> Words:
    by = sa.literal(delivery.user_id, sa.BigInteger)
    query = sa.select(posts.c.title, categories.c.name).join(categories, categories.c.id == posts.c.category_id)
    shown = query.where(posts.c.id == delivery.about_id, posts.c.hidden_by.is_(None), ~is_blocked(posts, by))
    row = db.session.execute(shown).one_or_none()
    if row is None:
        raise UnwantedError("hidden")
    return {"text": f"Utas baru di forum {break_links(row.name)}:{_quoted(row.title)}".removesuffix(":")}


def _quoted(title: str) -> str:
    """Return a title in quotation marks after a blank, for example ` “Menu harian”`.

    Return "" if the title is only a phone number.
    """
    short = message_title(title)
    return f" “{short}”" if short else ""


# --- messages about replies -----------------------------------------------------------------------------------------


def reply_written(thread: Post, reply: Post) -> None:
    """Notify the thread's author of a reply: at once, or at the end of a `BUCKET` that had a reply already."""
    if thread.user_id is None or thread.user_id == reply.user_id:
        return
    now = db_time.now()
    number = int(now.timestamp() // BUCKET.total_seconds())
    end = datetime.fromtimestamp((number + 1) * BUCKET.total_seconds(), UTC)
    for part, due_at in (("first", now), ("rest", end)):
        is_new = outbox.send(
            outbox.NewDelivery(
                kind=REPLY_KIND,
                channel=Channel.MESSAGING,
                dedupe_key=f"{REPLY_KIND}:{thread.user_id}:{number}:{part}",
                due_at=due_at,
                expires_at=due_at + REPLY_EXPIRES,
                user_id=thread.user_id,
            )
        )
        if is_new:
            break


def render_replies(claimed: Sequence[Claimed]) -> dict[int, Words]:
    """Return the texts of messages about replies. A message without new replies has no text."""
    return {each.id: words for each in claimed if (words := _text_of(each))}


def _text_of(delivery: Claimed) -> Words | None:
    """Return the text about the replies since the last message, and store in the delivery how far the text reaches."""
    row = db.session.execute(_REPLIES, {"user_id": delivery.user_id, "delivery_id": delivery.id}).first()
    if row is None:
        return None
    is_own = deliveries.c.id == delivery.id, deliveries.c.state == DeliveryState.CLAIMED
    reach = deliveries.c.payload.concat(sa.literal({"last_id": row.last_id}, JSONB))
    db.session.execute(sa.update(deliveries).where(*is_own).values(payload=reach))
    threads = f"{row.threads} utas Anda" if row.threads > 1 else f"utas Anda{_quoted(row.title)}"
    name = break_links(row.name)
    if row.replies > 1:
        return {"text": f"Ada balasan dari {name} dan {row.replies - 1} balasan lain di {threads} di forum."}
    return {"text": f"{name} membalas {threads} di forum."}


_USER_ID = sa.bindparam("user_id", type_=sa.BigInteger)
_threads = posts.alias("threads")
#: Id of the last reply that the person's sent messages, and those that are being sent, count.
_TOLD_ID = (
    sa.select(sa.func.max(sa.cast(deliveries.c.payload["last_id"].astext, sa.BigInteger)))
    .where(
        deliveries.c.user_id == _USER_ID,
        deliveries.c.kind == REPLY_KIND,
        deliveries.c.id != sa.bindparam("delivery_id", type_=sa.BigInteger),
        deliveries.c.state.in_([DeliveryState.CLAIMED, DeliveryState.SENT]),
    )
    .scalar_subquery()
)
_nth_thread = sa.func.dense_rank().over(order_by=posts.c.root_id)
_NEW = (
    sa.select(
        posts.c.id,
        _threads.c.title,
        author_name(posts.c.use_pseudonym).label("name"),
        sa.func.count().over().label("replies"),
        sa.func.max(posts.c.id).over().label("last_id"),
        _nth_thread.label("nth_thread"),
    )
    .join(_threads, _threads.c.id == posts.c.root_id)
    .join(users, users.c.id == posts.c.user_id)
    .where(
        _threads.c.user_id == _USER_ID,
        _threads.c.hidden_by.is_(None),
        posts.c.id > sa.func.coalesce(_TOLD_ID, 0),
        posts.c.created_at > sa.func.now() - REPLY_EXPIRES,
        posts.c.user_id != _USER_ID,
        posts.c.hidden_by.is_(None),
        ~is_blocked(posts, _USER_ID),
    )
    .subquery()
)
#: The first of the replies that a message counts, with the numbers of all.
_REPLIES = sa.select(_NEW, sa.func.max(_NEW.c.nth_thread).over().label("threads")).order_by(_NEW.c.id).limit(1)


def shows_pseudonym() -> sa.ColumnElement[bool]:
    """Return an SQL condition that is true for deliveries that may reveal a pseudonym to administrators.

    Administrators could compare the time of a message about a post with the time of the post. Broadcasts about threads
    are included. Everybody except the author may get such a broadcast, so a person without it may be the author.
    """
    is_of_thread = sa.func.coalesce(Delivery.payload["about"].astext == THREAD_KIND, sa.false())
    return sa.or_(Delivery.kind.in_([VERDICT_KIND, REPLY_KIND]), sa.and_(Delivery.kind == fan_out.KIND, is_of_thread))
