"""Moderation: reports and appeals of users, and the list and the decisions of moderators.

A case is the state of one post. The functions that change a case lock its post first.
"""

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
from app.forum.service import notices
from app.forum.service.locks import count, lock, lock_own
from app.forum.service.reads import Record, author_name
from app.identity import audit, own_pictures
from app.identity.models import User
from app.identity.sessions import Caller
from app.notifications.broadcasts import service as broadcasts

NOT_FOUND = "Kasus tidak ditemukan."

#: Number of reports that hide a post, and the minimum age of a reporter's account. Reports of younger accounts do not
#: count, because new accounts are easy to get.
HIDING = 3
MIN_AGE = timedelta(days=7)


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
        broadcasts.hold(notices.about(post))
    if needs_push:
        notices.notify_moderators(case)


def set_hidden(case: Case, post: Post, by: HiddenBy | None, *, is_told: bool = False) -> None:
    """Hide a post from everybody except its author, or show it with `by=None`. Notify the author of a change.

    With `is_told`, notify the author of the same state again. A picture that is hidden gets a new random name, so that
    its old address no longer works.
    """
    is_hidden = by is not None
    is_changed = is_hidden is (post.hidden_by is None)
    post.hidden_by = by
    if is_changed and is_hidden:
        post.image = own_pictures.rename(post.image)
        broadcasts.hold(notices.about(post))
    if is_changed or is_told:
        notices.notify_author(case, post)
    if is_changed:
        db.session.flush()
        count(post, -1 if is_hidden else 1)


# --- reports and appeals --------------------------------------------------------------------------------------------


def report(post_id: int, data: Loaded, caller: Caller, *, is_thread: bool) -> tuple[Report, bool]:
    """Record a report of a post. Return the caller's report of this post and whether it is new.

    A report opens a decided case only if the author changed the post since, or somebody may harm themselves.
    """
    post = lock(post_id, is_thread=is_thread)
    if post.user_id == caller.id:
        raise Conflict("Ini tulisan Anda sendiri.", code="own_post")
    case, is_new_case = of_post(post)
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
        request_review(case, post, is_new=is_new_case, is_urgent=is_urgent)
    if not (is_settled or is_urgent or case.is_crisis or post.hidden_by) and _count_reports(case) >= HIDING:
        set_hidden(case, post, HiddenBy.REPORTS)
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
    case, _ = of_post(post)
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
    post_id = db.session.scalar(sa.select(Case.post_id).where(Case.id == case_id))
    if post_id is None:
        raise NotFound(NOT_FOUND)
    post = lock(post_id)
    case, _ = of_post(post)
    state, reason = STATES[data["decision"]], data["reason"]
    is_told = post.hidden_by is not None and (case.state, case.reason) != (state, reason)
    case.state, case.reason, case.decided_at, case.appeal = state, reason, db_time.now(), None
    # Do not record the author, because the audit log must not reveal who uses a pseudonym.
    audit.record(by, audit.AuditAction.MODERATED, f"post:{post.id}", decision=data["decision"], case=case.id)
    set_hidden(case, post, HiddenBy.MODERATOR if state == CaseState.HIDDEN else None, is_told=is_told)
    if state == CaseState.KEPT:
        broadcasts.release(notices.about(post))
    return _records(db.session.execute(_CASES.where(Case.id == case_id)).all())[0]
