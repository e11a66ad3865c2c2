"""Reports of posts. Three reports hide a post until a moderator has decided."""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import db
from app.core.errors import Conflict
from app.core.web.fields import Loaded
from app.forum.models import ForumCase, ForumReport, HiddenBy, ReportReason
from app.forum.service import cases, hiding, posts, verdicts
from app.forum.service.posts import Post, PostType
from app.identity.models import User
from app.identity.sessions import Caller

#: Number of reports that hide a post. Only valid reports count, see `_may_hide`.
HIDING = 3
#: Minimum age of a reporter's account. Reports of younger accounts do not count, because new accounts are easy to get.
MIN_AGE = timedelta(days=7)

#: A person's reports do not count after this number of false reports within `FALSE_WITHIN`. A report is false if the
#: moderator decided `keep`. The person's reports count again `FALSE_WITHIN` after the last of these decisions.
FALSE = 3
FALSE_WITHIN = timedelta(days=30)


def report(kind: PostType, post_id: int, data: Loaded, caller: Caller) -> tuple[ForumReport, bool]:
    """Record a report of a post. Return the caller's report of this post and whether it is new.

    A report opens a decided case only if the author changed the post since, or somebody may harm themselves.
    """
    post = posts.lock(kind, post_id)
    if post.user_id == caller.id:
        raise Conflict("Ini tulisan Anda sendiri.", code="own_post")
    is_self_harm = data["reason"] == ReportReason.SELF_HARM
    case, is_new_case = cases.of_post(post)
    new_id = db.session.scalar(
        insert(ForumReport)
        .values(case_id=case.id, reporter_id=caller.id, **data)
        .on_conflict_do_nothing(index_elements=["case_id", "reporter_id"])
        .returning(ForumReport.id)
    )
    own = sa.select(ForumReport).where(ForumReport.case_id == case.id, ForumReport.reporter_id == caller.id)
    reported = db.session.scalars(own).one()
    is_settled = case.decided_at is not None and post.updated_at <= case.decided_at
    if (is_self_harm and not case.is_urgent) or (new_id is not None and (is_self_harm or not is_settled)):
        cases.request_review(case, is_new=is_new_case, is_urgent=is_self_harm)
    if new_id is None:
        return reported, False
    if post.hidden_reason is None and not is_self_harm and _may_hide(post, case):
        verdicts.notify_author(case, verdicts.CaseEvent.HIDDEN)
        hiding.hide(case, post, HiddenBy.REPORTS, hiding.REPORTED)
    return reported, True


def _may_hide(post: Post, case: ForumCase) -> bool:
    """Return whether a post has enough valid reports to be hidden.

    If a moderator decided `keep`, the post stays visible until its author changes it.
    A post with a crisis phrase always stays visible.
    """
    if case.is_crisis:
        return False
    if case.decided_at is not None and post.updated_at <= case.decided_at:
        return False
    # Before the first decision, count all reports of the case. One of them may be older than the case: if two people
    # report a post at the same time, the later report may open the case.
    is_since = sa.true() if case.decided_at is None else ForumReport.created_at > case.decided_at
    count = db.session.scalar(
        sa.select(sa.func.count())
        .select_from(ForumReport)
        .join(User, User.id == ForumReport.reporter_id)
        .where(
            ForumReport.case_id == case.id,
            is_since,
            ForumReport.reason != ReportReason.SELF_HARM,
            User.created_at < sa.func.now() - MIN_AGE,
            ~_reported_falsely(User.id),
        )
    )
    return (count or 0) >= HIDING


def _reported_falsely(user_id: orm.InstrumentedAttribute[int]) -> sa.ColumnElement[bool]:
    """Return an SQL condition that is true for a person with `FALSE` false reports within `FALSE_WITHIN`.

    The decision about the latest false report must be less than `FALSE_WITHIN` ago.
    """
    theirs = orm.aliased(ForumReport)
    kept = (
        sa.select(
            theirs.kept_at,
            sa.func.lag(theirs.kept_at, FALSE - 1).over(order_by=(theirs.kept_at, theirs.id)).label("first_at"),
        )
        .where(theirs.reporter_id == user_id, theirs.kept_at > sa.func.now() - 2 * FALSE_WITHIN)
        .correlate(User)
        .subquery()
    )
    return sa.exists().where(
        kept.c.kept_at > sa.func.now() - FALSE_WITHIN, kept.c.first_at >= kept.c.kept_at - FALSE_WITHIN
    )
