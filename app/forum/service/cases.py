"""Moderation cases. A case collects the reports of one post, the moderator's decision and the author's appeal.

A report, a crisis phrase or a moderator opens the case of a post. The deletion of the post closes the case.
The post must be locked before its case is read or changed. For a reply, the thread must be locked before
the reply.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database import db_time
from app.core.database.session import db
from app.forum.models import CaseState, ForumCase, ForumThread
from app.forum.service import verdicts
from app.forum.service.posts import Post
from app.identity import preferences
from app.identity.models import Role, RoleName, User, user_roles
from app.notifications import outbox
from app.notifications.delivery.claims import Claimed
from app.notifications.delivery.sealing import Words
from app.notifications.models import About, Channel

KIND = "moderation"

#: Time after which an unsent push about a case expires.
LIFETIME = timedelta(days=1)

#: Texts of the pushes to administrators about a new case. The texts contain no data of the post or its author.
PUSH = {"title": "Kasus moderasi baru", "body": "Ada tulisan di forum yang perlu diperiksa."}
URGENT_PUSH = {"title": "Kasus mendesak", "body": "Ada tulisan di forum yang perlu segera diperiksa."}


def of_post(post: Post) -> tuple[ForumCase, bool]:
    """Return the case of a locked post, and whether it is new. Insert the case if it is missing."""
    if isinstance(post, ForumThread):
        ids, key, is_of_kind = {"thread_id": post.id}, "thread_id", ForumCase.reply_id.is_(None)
    else:
        ids, key = {"thread_id": post.thread_id, "reply_id": post.id}, "reply_id"
        is_of_kind = ForumCase.reply_id.is_not(None)
    row = db.session.execute(
        insert(ForumCase)
        .values(**ids, author_id=post.user_id)
        .on_conflict_do_update(index_elements=[key], index_where=is_of_kind, set_={"author_id": ForumCase.author_id})
        .returning(ForumCase.id, sa.literal_column("xmax = 0", sa.Boolean).label("is_new"))
    ).one()
    return db.session.get_one(ForumCase, row.id, populate_existing=True), row.is_new


def request_review(case: ForumCase, *, is_new: bool, is_urgent: bool) -> None:
    """Put a case in the moderators' queue. If a moderator has already decided to keep the post, reopen the case.

    With `is_urgent`, also reopen the case of a hidden post. If the case is new or becomes urgent, send a push to the
    administrators who want such pushes.
    """
    is_reopened = case.state == CaseState.KEPT or (is_urgent and case.state == CaseState.HIDDEN)
    needs_push = is_new or (is_urgent and (is_reopened or not case.is_urgent))
    if is_reopened:
        case.state = CaseState.OPEN
    case.is_urgent = case.is_urgent or is_urgent
    db.session.flush()
    if needs_push:
        _notify_moderators(case)


def close(post: Post) -> None:
    """Close the case of a post before the post is deleted. For a thread, also close the cases of its replies."""
    which = ForumCase.thread_id if isinstance(post, ForumThread) else ForumCase.reply_id
    ids = db.session.scalars(
        sa.update(ForumCase)
        .where(which == post.id, ForumCase.state != CaseState.DELETED)
        .values(state=CaseState.DELETED, hidden_by=None)
        .returning(ForumCase.id)
    ).all()
    for case_id in ids:
        cancel_notices(case_id)
        verdicts.cancel(case_id)
    if isinstance(post, ForumThread):
        # Cases of deleted replies contain a copy of the thread's title. Delete the copies together with the thread.
        of_replies = (ForumCase.thread_id == post.id, ForumCase.reply_id.is_not(None), ForumCase.title.is_not(None))
        db.session.execute(sa.update(ForumCase).where(*of_replies).values(title=None))


def cancel_notices(case_id: int) -> None:
    """Cancel unsent pushes about a case."""
    outbox.cancel(_about(case_id))


def render(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    return {each.id: URGENT_PUSH if each.payload["is_urgent"] else PUSH for each in deliveries}


def _notify_moderators(case: ForumCase) -> None:
    occasion = f"{case.is_urgent}:{case.decided_at or ''}"
    expires_at = db_time.now() + LIFETIME
    outbox.add_all(
        [
            outbox.NewDelivery(
                kind=KIND,
                channel=Channel.PUSH_FAN_OUT,
                dedupe_key=f"forum_case:{case.id}:{occasion}:{user_id}",
                payload={"is_urgent": case.is_urgent},
                expires_at=expires_at,
                user_id=user_id,
                about=_about(case.id),
            )
            for user_id in _moderators()
        ]
    )


def _moderators() -> list[int]:
    """Return the ids of administrators whose preferences ask for pushes about new cases."""
    rows = db.session.execute(
        sa.select(User.id, User.preferences)
        .where(
            User.preferences.is_not(None),
            User.id.in_(
                sa.select(user_roles.c.user_id)
                .join(Role, Role.id == user_roles.c.role_id)
                .where(Role.name.in_([RoleName.ADMIN, RoleName.SUPERADMIN]))
            ),
        )
        .order_by(User.id)
    )
    return [user_id for user_id, wanted in rows if preferences.wants_moderation(wanted)]


def _about(case_id: int) -> About:
    return About("forum_case", case_id)
