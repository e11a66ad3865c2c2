"""Moderation cases of posts, and the effects of a hidden post. The post must be locked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database import db_time
from app.core.database.session import db
from app.core.lib.break_links import break_links
from app.forum.models import Case, CaseState, HiddenBy, Post
from app.forum.service import notices
from app.forum.service.locks import count
from app.forum.service.reads import hidden_reason, posts
from app.identity import own_pictures, preferences
from app.identity.models import Role, RoleName, User, user_roles
from app.notifications import outbox
from app.notifications.delivery import rendering
from app.notifications.delivery.claims import Claimed
from app.notifications.delivery.sealing import Words
from app.notifications.models import About, Channel, Delivery

#: Kind of the pushes to administrators about a case, and the time after which an unsent push expires.
KIND = "moderation"
LIFETIME = timedelta(days=1)

#: Texts of the pushes to administrators. The texts contain no data of the post or its author.
PUSH = {"title": "Kasus moderasi baru", "body": "Ada tulisan di forum yang perlu diperiksa."}
URGENT_PUSH = {"title": "Kasus mendesak", "body": "Ada tulisan di forum yang perlu segera diperiksa."}

#: Time after which an unsent notice to an author expires, and the title of the push.
NOTICE_LIFETIME = timedelta(days=7)
TITLE = "Tulisan Anda di forum"


def of_post(post: Post) -> tuple[Case, bool]:
    """Return the case of a post, and whether it is new. Insert the case if it is missing."""
    new = insert(Case).values(post_id=post.id).on_conflict_do_nothing(index_elements=["post_id"])
    is_new = db.session.scalar(new.returning(Case.id)) is not None
    own = sa.select(Case).where(Case.post_id == post.id).execution_options(populate_existing=True)
    return db.session.scalars(own).one(), is_new


def request_review(case: Case, post: Post, *, is_new: bool, is_urgent: bool) -> None:
    """Open a case. If the case is new or becomes urgent, notify the administrators who want such pushes.

    While a crisis case is open, the broadcast of the thread is held.
    """
    needs_push = is_new or (is_urgent and (case.state != CaseState.OPEN or not case.is_urgent))
    case.state, case.is_urgent = CaseState.OPEN, case.is_urgent or is_urgent
    db.session.flush()
    if case.is_crisis:
        notices.hold(post)
    if needs_push:
        _notify_moderators(case)


def set_hidden(case: Case, post: Post, by: HiddenBy | None) -> None:
    """Hide a post from everybody except its author, or show it with `by=None`. Notify the author of a change.

    A picture that is hidden gets a new random name, so that its old address no longer works.
    """
    was_hidden, post.hidden_by = post.hidden_by is not None, by
    is_hidden = by is not None
    if is_hidden == was_hidden:
        return
    if is_hidden:
        post.image = own_pictures.rename(post.image)
        notices.hold(post)
    db.session.flush()
    notify_author(case, post)
    count(post, -1 if is_hidden else 1)


def notify_author(case: Case, post: Post) -> None:
    """Notify the author of the post's state, by message and push. This notice replaces an unsent one."""
    about = About("case_author", case.id)
    if post.user_id is not None:
        outbox.cancel(Delivery.user_id == post.user_id, outbox.is_about(about))
        outbox.send(
            outbox.NewDelivery(
                kind=notices.VERDICT_KIND,
                dedupe_key=f"{notices.VERDICT_KIND}:{case.id}:{db_time.now().timestamp()}",
                user_id=post.user_id,
                about=about,
                expires_in=NOTICE_LIFETIME,
            )
        )


def render_notices(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the texts of notices to authors, by the state of their posts now. The texts name neither title nor people.

    Another person may see the message on the phone of an author who uses a pseudonym.
    """
    query = (
        sa.select(Case.id, Case.state, Case.reason, hidden_reason(posts).label("hidden_reason"), posts.c.root_id)
        .join(posts, posts.c.id == Case.post_id)
        .where(Case.id.in_([each.about_id for each in deliveries]))
    )
    texts = {row.id: _text(row) for row in db.session.execute(query)}
    said = ((each, texts.get(each.about_id or 0)) for each in deliveries)
    return {each.id: rendering.notice(each, text=text, title=TITLE, body=text) for each, text in said if text}


def _text(row: sa.Row[int, str, str | None, str, int | None]) -> str | None:
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


def _notify_moderators(case: Case) -> None:
    outbox.send(
        *(
            outbox.NewDelivery(
                kind=KIND,
                channel=Channel.PUSH_FAN_OUT,
                dedupe_key=f"case:{case.id}:{case.is_urgent}:{case.decided_at or ''}:{user_id}",
                expires_in=LIFETIME,
                user_id=user_id,
                about=About("case", case.id),
            )
            for user_id in _moderators()
        )
    )


def _moderators() -> list[int]:
    """Return the ids of administrators whose preferences ask for pushes about new cases."""
    roles = sa.select(user_roles.c.user_id).join(Role, Role.id == user_roles.c.role_id)
    admins = roles.where(Role.name.in_([RoleName.ADMIN, RoleName.SUPERADMIN]))
    rows = db.session.execute(
        sa.select(User.id, User.preferences).where(User.preferences.is_not(None), User.id.in_(admins)).order_by(User.id)
    )
    return [user_id for user_id, wanted in rows if preferences.wants_moderation(wanted)]


def render_pushes(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the texts of pushes about cases that are still open."""
    query = sa.select(Case.id, Case.is_urgent).where(
        Case.id.in_([each.about_id for each in deliveries]), Case.state == CaseState.OPEN
    )
    urgent = {row.id: row.is_urgent for row in db.session.execute(query)}
    return {each.id: URGENT_PUSH if urgent[each.about_id] else PUSH for each in deliveries if each.about_id in urgent}
