"""Moderation: reports and appeals of users, and the list and the decisions of moderators."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.dialects.postgresql import insert

from app.core.database import db_time
from app.core.database.session import db
from app.core.errors import Conflict, NotFound
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, containing, paginate_rows
from app.forum.models import Case, CaseState, HiddenBy, Post, Report, ReportReason
from app.forum.moderation_schemas import STATES, CaseSearch
from app.forum.service import cases, notices
from app.forum.service.locks import lock, lock_own
from app.forum.service.reads import Record, author_name
from app.identity import audit
from app.identity.models import User
from app.identity.sessions import Caller

NOT_FOUND = "Kasus tidak ditemukan."

#: Number of reports that hide a post, and the minimum age of a reporter's account. Reports of younger accounts do not
#: count, because new accounts are easy to get.
HIDING = 3
MIN_AGE = timedelta(days=7)


# --- reports and appeals --------------------------------------------------------------------------------------------


def report(post_id: int, data: Loaded, caller: Caller, *, is_thread: bool) -> tuple[Report, bool]:
    """Record a report of a post. Return the caller's report of this post and whether it is new.

    A report opens a decided case only if the author changed the post since, or somebody may harm themselves.
    """
    post = lock(post_id, is_thread=is_thread)
    if post.user_id == caller.id:
        raise Conflict("Ini tulisan Anda sendiri.", code="own_post")
    case, is_new_case = cases.of_post(post)
    new = insert(Report).values(case_id=case.id, reporter_id=caller.id, **data)
    new = new.on_conflict_do_nothing(index_elements=["case_id", "reporter_id"])
    is_new = db.session.scalar(new.returning(Report.id)) is not None
    own = sa.select(Report).where(Report.case_id == case.id, Report.reporter_id == caller.id)
    reported = db.session.scalars(own).one()
    is_urgent = data["reason"] == ReportReason.SELF_HARM
    if not is_new and (case.is_urgent or not is_urgent):
        return reported, False
    is_settled = case.decided_at is not None and post.updated_at <= case.decided_at
    if is_urgent or (case.state != CaseState.HIDDEN and not is_settled):
        cases.request_review(case, post, is_new=is_new_case, is_urgent=is_urgent)
    if not (is_settled or is_urgent or case.is_crisis or post.hidden_by) and _count_reports(case) >= HIDING:
        cases.set_hidden(case, post, HiddenBy.REPORTS)
    return reported, is_new


def _count_reports(case: Case) -> int:
    """Return the number of reports since the latest decision that may hide the post."""
    query = sa.select(sa.func.count()).select_from(Report).join(User, User.id == Report.reporter_id)
    query = query.where(
        Report.case_id == case.id,
        Report.reason != ReportReason.SELF_HARM,
        User.created_at < sa.func.now() - MIN_AGE,
    )
    if case.decided_at is not None:
        query = query.where(Report.created_at > case.decided_at)
    return db.session.scalar(query) or 0


def appeal(post_id: int, note: str, caller: Caller, *, is_thread: bool) -> bool:
    """Open the case of the caller's hidden post again. Return False if the note replaces an undecided appeal."""
    post = lock_own(post_id, caller, is_thread=is_thread)
    if post.hidden_by is None:
        raise Conflict("Tulisan ini tidak disembunyikan.", code="not_hidden")
    case, _ = cases.of_post(post)
    is_first = case.appeal is None
    case.state, case.appeal = CaseState.OPEN, note
    db.session.flush()
    return is_first


# --- moderators -----------------------------------------------------------------------------------------------------

_Thread = orm.aliased(Post)
_TITLE = sa.func.coalesce(Post.title, _Thread.title)

_CASES = (
    sa.select(
        Case.id,
        sa.func.coalesce(Post.root_id, Post.id).label("thread_id"),
        sa.case((Post.root_id.is_not(None), Post.id)).label("reply_id"),
        _TITLE.label("title"),
        Post.content,
        Post.image,
        author_name(Post.__table__.c.use_pseudonym).label("author_name"),
        Case.state,
        Case.is_urgent.label("urgent"),
        Post.hidden_by,
        Case.appeal,
        Case.reason,
        Case.created_at,
    )
    .join(Post, Post.id == Case.post_id)
    .outerjoin(_Thread, _Thread.id == Post.root_id)
    .outerjoin(User, User.id == Post.user_id)
)


def list_cases(search: CaseSearch) -> Listing[Record]:
    """Return one page of cases, urgent ones first, then the newest."""
    query = _CASES.order_by(Case.is_urgent.desc(), Case.id.desc())
    if search.state:
        query = query.where(Case.state == search.state)
    if search.banding is not None:
        query = query.where(Case.appeal.is_not(None) == search.banding)
    if search.q:
        query = query.where(containing(search.q, _TITLE, Post.content))
    listing = paginate_rows(query, search.page)
    records = _records(listing.rows)
    for record in records:
        record["content"] = listing.page.cut(record["content"])
    return Listing(records, listing.total, listing.page)


def _records(rows: Collection[sa.Row[*tuple[Any, ...]]]) -> list[Record]:
    """Return the records of cases with their reports, oldest first, without the reporters."""
    records = {row.id: {**row._asdict(), "reports": []} for row in rows}
    for each in db.session.scalars(sa.select(Report).where(Report.case_id.in_(records)).order_by(Report.id)):
        records[each.case_id]["reports"].append({"reason": each.reason, "note": each.note, "at": each.created_at})
    return list(records.values())


def decide(case_id: int, data: Loaded, by: Caller) -> Record:
    """Decide a case, or change its decision."""
    where = sa.select(Post.id, Post.root_id).join(Case, Case.post_id == Post.id).where(Case.id == case_id)
    row = db.session.execute(where).one_or_none()
    if row is None:
        raise NotFound(NOT_FOUND)
    post = lock(row.id, is_thread=row.root_id is None)
    case, _ = cases.of_post(post)
    state, reason = STATES[data["decision"]], data["reason"]
    is_repeated = (case.state, case.reason) == (state, reason)
    was_hidden = post.hidden_by is not None
    case.state, case.reason, case.decided_at, case.appeal = state, reason, db_time.now(), None
    # Do not record the author, because the audit log must not reveal who uses a pseudonym.
    audit.record(by, audit.AuditAction.MODERATED, f"post:{post.id}", decision=data["decision"], case=case.id)
    cases.set_hidden(case, post, HiddenBy.MODERATOR if state == CaseState.HIDDEN else None)
    if state == CaseState.KEPT:
        notices.release(post)
    elif was_hidden and not is_repeated:
        cases.notify_author(case, post)
    return _records(db.session.execute(_CASES.where(Case.id == case_id)).all())[0]
