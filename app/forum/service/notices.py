"""Messages of the forum: broadcasts about new threads, notices to authors, and pushes to administrators.

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
from app.forum.models import Case, CaseState, Post
from app.forum.service.reads import author_name, categories, hidden_reason, is_blocked, posts, users
from app.identity import preferences
from app.identity.models import Role, RoleName, User, user_roles
from app.notifications import outbox
from app.notifications.broadcasts import fan_out
from app.notifications.delivery import rendering
from app.notifications.delivery.claims import Claimed, UnwantedError
from app.notifications.delivery.sealing import Words
from app.notifications.models import About, Channel, Delivery, DeliveryState, deliveries

THREAD_KIND = "forum_thread"
REPLY_KIND = "forum_reply"
VERDICT_KIND = "post_moderated"
CASE_KIND = "moderation"

#: The first reply of this period is told at once. The later replies leave together at the end of the period.
BUCKET = timedelta(minutes=10)
#: An unsent message about replies expires this time after its due time.
REPLY_EXPIRES = timedelta(hours=24)

#: Title of the push to the author of a moderated post, and the time after which an unsent notice expires.
VERDICT_TITLE = "Tulisan Anda di forum"
VERDICT_EXPIRES = timedelta(days=7)

#: Texts of the pushes to administrators. The texts contain no data of the post or its author.
NEW_CASE = {"title": "Kasus moderasi baru", "body": "Ada tulisan di forum yang perlu diperiksa."}
URGENT_CASE = {"title": "Kasus mendesak", "body": "Ada tulisan di forum yang perlu segera diperiksa."}
CASE_EXPIRES = timedelta(days=1)


# --- broadcasts about threads ---------------------------------------------------------------------------------------


def about(post: Post) -> About:
    """Return the subject of a thread's broadcast. No broadcast has a reply as its subject."""
    return About(THREAD_KIND, post.id)


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
                expires_in=REPLY_EXPIRES,
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
    told = deliveries.c.payload["last_id"].astext.cast(sa.BigInteger)
    is_earlier = deliveries.c.kind == REPLY_KIND, deliveries.c.id != delivery.id
    is_told = deliveries.c.state.in_([DeliveryState.CLAIMED, DeliveryState.SENT])
    last_told = sa.select(sa.func.max(told)).where(deliveries.c.user_id == delivery.user_id, *is_earlier, is_told)
    threads = posts.alias("threads")
    new = (
        sa.select(posts.c.id, posts.c.root_id, threads.c.title, author_name(posts.c.use_pseudonym).label("name"))
        .join(threads, threads.c.id == posts.c.root_id)
        .join(users, users.c.id == posts.c.user_id)
        .where(
            threads.c.user_id == delivery.user_id,
            threads.c.hidden_by.is_(None),
            posts.c.id > sa.func.coalesce(last_told.scalar_subquery(), 0),
            posts.c.created_at > sa.func.now() - REPLY_EXPIRES,
            posts.c.user_id != delivery.user_id,
            posts.c.hidden_by.is_(None),
            ~is_blocked(posts, sa.literal(delivery.user_id, sa.BigInteger)),
        )
        .order_by(posts.c.id)
    )
    replies = db.session.execute(new).all()
    if not replies:
        return None
    is_own = deliveries.c.id == delivery.id, deliveries.c.state == DeliveryState.CLAIMED
    reach = deliveries.c.payload.concat(sa.literal({"last_id": replies[-1].id}, JSONB))
    db.session.execute(sa.update(deliveries).where(*is_own).values(payload=reach))
    count, first = len({reply.root_id for reply in replies}), replies[0]
    where = f"{count} utas Anda" if count > 1 else f"utas Anda{_quoted(first.title)}"
    name = break_links(first.name)
    if len(replies) > 1:
        return {"text": f"Ada balasan dari {name} dan {len(replies) - 1} balasan lain di {where} di forum."}
    return {"text": f"{name} membalas {where} di forum."}


# --- messages and pushes to the authors of moderated posts ----------------------------------------------------------


def notify_author(case: Case, post: Post) -> None:
    """Notify the author of the post's state, by message and push. This notice replaces an unsent one."""
    if post.user_id is None:
        return
    subject = About("case_author", case.id)
    outbox.cancel(Delivery.user_id == post.user_id, outbox.is_about(subject))
    key = f"{VERDICT_KIND}:{case.id}:{db_time.now().timestamp()}"
    outbox.send(
        outbox.NewDelivery(
            kind=VERDICT_KIND, dedupe_key=key, user_id=post.user_id, about=subject, expires_in=VERDICT_EXPIRES
        )
    )


def render_verdicts(claimed: Sequence[Claimed]) -> dict[int, Words]:
    """Return the texts of notices to authors, by the state of their posts now. The texts name neither title nor people.

    Another person may see the message on the phone of an author who uses a pseudonym.
    """
    query = (
        sa.select(Case.id, Case.state, Case.reason, hidden_reason(posts).label("hidden_reason"), posts.c.root_id)
        .join(posts, posts.c.id == Case.post_id)
        .where(Case.id.in_([each.about_id for each in claimed]))
    )
    texts = {row.id: _verdict(row) for row in db.session.execute(query)}
    said = ((each, texts.get(each.about_id or 0)) for each in claimed)
    return {each.id: rendering.notice(each, text=text, title=VERDICT_TITLE, body=text) for each, text in said if text}


def _verdict(row: sa.Row[int, str, str | None, str, int | None]) -> str | None:
    noun = "tulisan" if row.root_id is None else "balasan"
    if row.hidden_reason is not None:
        return (
            f"Kami menyembunyikan {noun} Anda di forum. Alasannya: {_sentence(row.hidden_reason)} "
            f"Kalau menurut Anda ini keliru, buka {noun} itu di aplikasi, lalu ajukan banding."
        )
    if row.state == CaseState.KEPT:
        return (
            f"Moderator sudah memeriksa {noun} Anda di forum. Sekarang semua orang dapat membacanya lagi. "
            f"Alasannya: {_sentence(row.reason or '')}"
        )
    return None


def _sentence(text: str) -> str:
    """Return a reason with links broken and with a full stop at the end."""
    reason = break_links(text)
    return reason if reason.endswith((".", "!", "?")) else f"{reason}."


# --- pushes to administrators ---------------------------------------------------------------------------------------


def notify_moderators(case: Case) -> None:
    """Push to the administrators whose preferences ask for pushes about cases."""
    roles = sa.select(user_roles.c.user_id).join(Role, Role.id == user_roles.c.role_id)
    admins = roles.where(Role.name.in_([RoleName.ADMIN, RoleName.SUPERADMIN]))
    rows = sa.select(User.id, User.preferences).where(User.preferences.is_not(None), User.id.in_(admins))
    outbox.send(
        *(
            outbox.NewDelivery(
                kind=CASE_KIND,
                channel=Channel.PUSH_FAN_OUT,
                dedupe_key=f"case:{case.id}:{case.is_urgent}:{case.decided_at or ''}:{user_id}",
                expires_in=CASE_EXPIRES,
                user_id=user_id,
                about=About("case", case.id),
            )
            for user_id, wanted in db.session.execute(rows.order_by(User.id))
            if preferences.wants_moderation(wanted)
        )
    )


def render_cases(claimed: Sequence[Claimed]) -> dict[int, Words]:
    """Return the texts of pushes about cases that are still open."""
    query = sa.select(Case.id, Case.is_urgent).where(
        Case.id.in_([each.about_id for each in claimed]), Case.state == CaseState.OPEN
    )
    urgent = {row.id: row.is_urgent for row in db.session.execute(query)}
    return {each.id: URGENT_CASE if urgent[each.about_id] else NEW_CASE for each in claimed if each.about_id in urgent}


def shows_pseudonym() -> sa.ColumnElement[bool]:
    """Return an SQL condition that is true for deliveries that may reveal a pseudonym to administrators.

    Administrators could compare the time of a message about a post with the time of the post. Broadcasts about threads
    are included. Everybody except the author may get such a broadcast, so a person without it may be the author.
    """
    is_of_thread = sa.func.coalesce(Delivery.payload["about"].astext == THREAD_KIND, sa.false())
    return sa.or_(Delivery.kind.in_([VERDICT_KIND, REPLY_KIND]), sa.and_(Delivery.kind == fan_out.KIND, is_of_thread))
