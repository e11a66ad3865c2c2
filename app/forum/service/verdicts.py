"""Notices to the author of a post after the post was hidden, shown again, or deleted.

A worker renders the text just before it sends the notice. The text never names reporters. If the post has a pseudonym,
the text omits the title, because another person may see the message on the author's phone.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from enum import StrEnum

import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib.break_links import break_links
from app.forum.models import CaseState, ForumCase, ForumReply, ForumThread
from app.forum.service.notices import VERDICT_KIND, quoted
from app.notifications import outbox
from app.notifications.delivery import rendering
from app.notifications.delivery.claims import Claimed
from app.notifications.delivery.sealing import Words
from app.notifications.messages import notify_user
from app.notifications.models import About

ABOUT = "forum_verdict"
EXPIRES = timedelta(days=7)

TITLE = "Tulisan Anda di forum"
APPEAL = "Kalau menurut Anda ini keliru, buka tulisan itu di aplikasi, lalu ajukan banding."


class CaseEvent(StrEnum):
    HIDDEN = "hidden"
    #: A moderator has reviewed a hidden post, and it stays hidden.
    STILL_HIDDEN = "still_hidden"
    SHOWN = "shown"
    DELETED = "deleted"


def notify_author(case: ForumCase, event: CaseEvent) -> None:
    """Notify the author of the post in this case, by message and push. Cancel unsent notices about earlier events."""
    cancel(case.id)
    if case.author_id is not None:
        notify_user(
            case.author_id,
            kind=VERDICT_KIND,
            dedupe_key=f"{ABOUT}:{case.id}:{event}:{case.decided_at or ''}",
            expires_in=EXPIRES,
            about=About(ABOUT, case.id),
            payload={"event": event},
        )


def cancel(case_id: int) -> None:
    outbox.cancel(About(ABOUT, case_id))


def render(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the texts of notices to authors. A notice gets no text, and is not sent, if the event was undone."""
    texts = ((each, _text(each)) for each in deliveries)
    return {each.id: rendering.notice(each, text=text, title=TITLE, body=text) for each, text in texts if text}


_is_reply = ForumCase.reply_id.is_not(None)
_CASE_STATE = (
    sa.select(
        ForumCase.state,
        ForumCase.reason,
        _is_reply.label("is_reply"),
        sa.case((_is_reply, ForumReply.hidden_reason), else_=ForumThread.hidden_reason).label("hidden_reason"),
        # Omit the title of a hidden thread from a notice about a reply. Only the thread's author may read this title.
        sa.case((sa.or_(~_is_reply, ForumThread.hidden_reason.is_(None)), ForumThread.title)).label("title"),
        sa.func.coalesce(
            ForumCase.use_pseudonym,
            sa.case((_is_reply, ForumReply.use_pseudonym), else_=ForumThread.use_pseudonym),
            sa.true(),
        ).label("use_pseudonym"),
        ForumCase.title.label("deleted_title"),
    )
    .outerjoin(ForumThread, ForumThread.id == ForumCase.thread_id)
    .outerjoin(ForumReply, sa.and_(ForumReply.id == ForumCase.reply_id, ~ForumReply.is_deleted))
    .where(ForumCase.id == sa.bindparam("id"), ForumCase.author_id == sa.bindparam("author_id"))
)


def _text(delivery: Claimed) -> str | None:
    row = db.session.execute(_CASE_STATE, {"id": delivery.about_id, "author_id": delivery.user_id}).one_or_none()
    if row is None:
        return None
    event = delivery.payload["event"]
    title = None if row.use_pseudonym else row.title or (None if row.is_reply else row.deleted_title)
    noun = "balasan" if row.is_reply else "tulisan"
    place = f" di utas{quoted(title)}" if row.is_reply and title else quoted(title or "")
    what = f"{noun} Anda{place} di forum"
    reason = f"Alasannya: {_sentence(row.reason)}"
    if event == CaseEvent.DELETED and row.state == CaseState.DELETED:
        return f"Moderator menghapus {what}. {reason}"
    if event == CaseEvent.SHOWN and row.state == CaseState.KEPT and row.hidden_reason is None:
        return f"Moderator sudah memeriksa {what}. Sekarang semua orang dapat membacanya lagi. {reason}"
    if event in (CaseEvent.HIDDEN, CaseEvent.STILL_HIDDEN) and row.hidden_reason is not None:
        reason = f"Alasannya: {_sentence(row.hidden_reason)}"
        if event == CaseEvent.HIDDEN:
            return f"Kami menyembunyikan {what}. {reason} {APPEAL}"
        return f"Moderator sudah memeriksa {what}, dan tetap menyembunyikannya. {reason} {APPEAL}"
    return None


def _sentence(text: str | None) -> str:
    """Return a moderator's reason with links broken and with a full stop at the end."""
    reason = break_links(text or "")
    return reason if reason.endswith((".", "!", "?")) else f"{reason}."
