"""Moderation: list and decide cases, show the name behind a pseudonym, and record the appeals of authors."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TypedDict

import sqlalchemy as sa

from app.core.database import db_time
from app.core.database.session import db, get_locked_or_404
from app.core.errors import Conflict, NotFound
from app.core.media import pictures
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, containing, paginate_rows
from app.forum.models import CaseState, ForumCase, ForumReply, ForumReport, ForumThread, HiddenBy, ReportReason
from app.forum.moderation_schemas import STATES, CaseSearch
from app.forum.service import cases, hiding, notices, posts, replies, threads, verdicts
from app.forum.service.posts import Post, PostType, check_owner, lock_reply, lock_thread
from app.forum.service.reads.posts import author_name
from app.identity import access_log, audit
from app.identity.models import User
from app.identity.sessions import Caller

NOT_FOUND = "Kasus tidak ditemukan."
IMAGE_NOT_FOUND = "Gambar tidak ditemukan."


class Report(TypedDict):
    """A report as moderators see it, without the reporter."""

    reason: str
    note: str | None
    at: datetime


class Case(TypedDict):
    """A case as moderators see it. If the post has a pseudonym, moderators see only the pseudonym of its author."""

    id: int
    thread_id: int
    reply_id: int | None
    title: str | None
    content: str | None
    has_image: bool
    hidden_by: str | None
    author_name: str | None
    state: str
    urgent: bool
    reports: Sequence[Report]
    appeal: str | None
    reason: str | None
    created_at: datetime


class Identity(TypedDict):
    user_id: int
    username: str
    nama_ktp: str


# --- reads of cases -------------------------------------------------------------------------------------------------

_is_about_reply = ForumCase.reply_id.is_not(None)
_TITLE = sa.func.coalesce(ForumCase.title, ForumThread.title)
_CONTENT = sa.func.coalesce(
    ForumCase.content, sa.case((_is_about_reply, ForumReply.content), else_=ForumThread.content)
)
#: Picture of the post. It is null for a deleted post, because a case has no copy of the picture.
_IMAGE = sa.case((_is_about_reply, ForumReply.image), else_=ForumThread.image)
_USE_PSEUDONYM = sa.func.coalesce(
    ForumCase.use_pseudonym, sa.case((_is_about_reply, ForumReply.use_pseudonym), else_=ForumThread.use_pseudonym)
)
_AUTHOR_NAME = sa.case((_CONTENT.is_not(None), author_name(_USE_PSEUDONYM)))

#: Query of cases with their posts. If a moderator deleted the post, the row has the copy that is stored in the case.
_CASES = (
    sa.select(
        ForumCase.id,
        ForumCase.thread_id,
        ForumCase.reply_id,
        _TITLE.label("title"),
        _CONTENT.label("content"),
        _IMAGE.is_not(None).label("has_image"),
        ForumCase.hidden_by,
        _AUTHOR_NAME.label("author_name"),
        ForumCase.state,
        ForumCase.is_urgent.label("urgent"),
        ForumCase.appeal,
        ForumCase.reason,
        ForumCase.created_at,
    )
    .outerjoin(ForumThread, ForumThread.id == ForumCase.thread_id)
    .outerjoin(ForumReply, sa.and_(ForumReply.id == ForumCase.reply_id, ~ForumReply.is_deleted))
    .outerjoin(User, User.id == ForumCase.author_id)
)

#: SQL condition that is true if an appeal waits for a decision. Appeals about deleted posts do not wait.
_is_appealed = sa.and_(
    ForumCase.state != CaseState.DELETED,
    ForumCase.appealed_at.is_not(None),
    sa.or_(ForumCase.decided_at.is_(None), ForumCase.appealed_at > ForumCase.decided_at),
)


def list_all(search: CaseSearch) -> Listing[Case]:
    """Return one page of cases, urgent ones first, then the newest."""
    query = _CASES.order_by(ForumCase.is_urgent.desc(), ForumCase.id.desc())
    if search.state:
        query = query.where(ForumCase.state == search.state)
    if search.banding is not None:
        query = query.where(_is_appealed == search.banding)
    if search.q:
        query = query.where(containing(search.q, _TITLE, _CONTENT))
    listing = paginate_rows(query, search.page)
    reports = _reports_of([row.id for row in listing.rows])
    records = [_record(row, reports) for row in listing.rows]
    for record in records:
        record["content"] = record["content"] and listing.page.cut(record["content"])
    return Listing(records, listing.total, listing.page)


def get_image(case_id: int) -> bytes:
    """Return the picture of a case's post, hidden or not. Raise `NotFound` if the post has no picture."""
    name = db.session.scalar(_CASES.with_only_columns(_IMAGE).where(ForumCase.id == case_id))
    if name is None:
        raise NotFound(IMAGE_NOT_FOUND)
    return pictures.get(name)


def _read(case_id: int) -> Case:
    db.session.flush()
    row = db.session.execute(_CASES.where(ForumCase.id == case_id)).one()
    return _record(row, _reports_of([case_id]))


def _record(row: sa.Row[*tuple[object, ...]], reports: dict[int, list[Report]]) -> Case:
    return {**row._asdict(), "reports": reports.get(row.id, [])}  # type: ignore[typeddict-item]  # the columns above


def _reports_of(case_ids: Collection[int]) -> dict[int, list[Report]]:
    """Return the reports of these cases by case id, oldest first."""
    reports: dict[int, list[Report]] = {}
    query = sa.select(ForumReport).where(ForumReport.case_id.in_(case_ids)).order_by(ForumReport.id)
    for report in db.session.scalars(query) if case_ids else ():
        row: Report = {"reason": report.reason, "note": report.note, "at": report.created_at}
        reports.setdefault(report.case_id, []).append(row)
    return reports


# --- decisions about posts ------------------------------------------------------------------------------------------


def create(data: Loaded, by: Caller) -> tuple[Case, bool]:
    """Decide about a post, which may have no reports. Return the post's case, and whether the case is new."""
    post = lock_reply(data["reply_id"]) if "reply_id" in data else lock_thread(data["thread_id"])
    case, is_new = cases.of_post(post)
    _decide(case, post, data, by)
    return _read(case.id), is_new


def decide(case_id: int, data: Loaded, by: Caller) -> Case:
    """Decide a case, or change its decision. Raise `Conflict` if the post is deleted."""
    case, post = _locked(case_id)
    if post is None:
        raise Conflict("Tulisan ini sudah dihapus.", code="post_deleted")
    _decide(case, post, data, by)
    return _read(case.id)


def _decide(case: ForumCase, post: Post, data: Loaded, by: Caller) -> None:
    decision, reason = data["decision"], data["reason"]
    event = _event(case, post, decision, reason)
    case.state, case.reason, case.decided_at = STATES[decision], reason, db_time.now()
    cases.cancel_notices(case.id)
    _judge_reports(case, is_false=decision == "keep" and not case.is_crisis)
    if event is not None:
        verdicts.notify_author(case, event)
    # Do not record the author, because the audit log must not reveal who uses a pseudonym.
    audit.record(by, audit.AuditAction.MODERATED, f"{post.__tablename__}:{post.id}", decision=decision, case=case.id)
    if decision == "keep":
        hiding.show(case, post)
    elif decision == "hide":
        hiding.hide(case, post, HiddenBy.MODERATOR, reason)
    else:
        _delete(case, post)


def _event(case: ForumCase, post: Post, decision: str, reason: str) -> verdicts.CaseEvent | None:
    """Return the event for the author's notification, or None if the decision changes nothing for the author.

    For example, the decision to keep a visible post causes no notification.
    """
    was_hidden = post.hidden_reason is not None
    if decision == "delete":
        return verdicts.CaseEvent.DELETED
    if decision == "keep":
        return verdicts.CaseEvent.SHOWN if was_hidden else None
    if not was_hidden:
        return verdicts.CaseEvent.HIDDEN
    is_the_same = case.hidden_by == HiddenBy.MODERATOR and post.hidden_reason == reason and not _waits(case)
    return None if is_the_same else verdicts.CaseEvent.STILL_HIDDEN


def _judge_reports(case: ForumCase, *, is_false: bool) -> None:
    """Mark the reports of a case as false, or remove this mark. Reports of self-harm are never marked as false."""
    judged = sa.update(ForumReport).where(ForumReport.case_id == case.id)
    if is_false:
        judged = judged.where(ForumReport.kept_at.is_(None), ForumReport.reason != ReportReason.SELF_HARM)
    elif case.state == CaseState.KEPT:
        return
    db.session.execute(judged.values(kept_at=case.decided_at if is_false else None))


def _delete(case: ForumCase, post: Post) -> None:
    """Delete the post. Copy title and text into its case, so that moderators can explain the decision later."""
    thread = post if isinstance(post, ForumThread) else db.session.get_one(ForumThread, post.thread_id)
    case.title, case.content, case.use_pseudonym = thread.title, post.content, post.use_pseudonym
    case.hidden_by = None
    db.session.flush()
    if isinstance(post, ForumThread):
        threads.remove(post)
    else:
        replies.remove(post)


def _locked(case_id: int) -> tuple[ForumCase, Post | None]:
    """Lock the post of a case and then the case. Return both. The post is None if it is deleted."""
    row = db.session.execute(
        sa.select(ForumCase.thread_id, ForumCase.reply_id).where(ForumCase.id == case_id)
    ).one_or_none()
    if row is None:
        raise NotFound(NOT_FOUND)
    post: Post | None
    try:
        post = lock_thread(row.thread_id) if row.reply_id is None else lock_reply(row.reply_id)
    except NotFound:
        post = None
    return get_locked_or_404(ForumCase, case_id, NOT_FOUND, key_share=True), post


# --- appeals, and names behind pseudonyms ---------------------------------------------------------------------------


def appeal(kind: PostType, post_id: int, note: str, caller: Caller) -> bool:
    """Record the caller's appeal about a hidden post that the caller wrote. Return whether this is a new appeal.

    If an earlier appeal still waits for a decision, replace its text.
    """
    post = posts.lock(kind, post_id)
    check_owner(post, caller)
    if post.hidden_reason is None:
        raise Conflict("Tulisan ini tidak disembunyikan.", code="not_hidden")
    case, _ = cases.of_post(post)
    is_first = not _waits(case)
    case.appeal, case.appealed_at = note, db_time.now()
    db.session.flush()
    return is_first


def _waits(case: ForumCase) -> bool:
    """Return whether the author has appealed since the latest decision about the case."""
    return case.appealed_at is not None and (case.decided_at is None or case.appealed_at >= case.decided_at)


def lift_pseudonym(case_id: int, reason: str, by: Caller) -> Identity:
    """Return the name of an author who uses a pseudonym. Raise `Conflict` if the case already revealed the name.

    Record the access in the audit log and in the author's access log, and notify the author.
    """
    case, post = _locked(case_id)
    use_pseudonym = case.use_pseudonym if post is None else post.use_pseudonym
    author = None if case.author_id is None else db.session.get(User, case.author_id)
    if author is None or use_pseudonym is None:
        raise Conflict("Penulisnya tidak dapat diketahui lagi.", code="author_gone")
    if not use_pseudonym:
        raise Conflict("Penulis tidak memakai nama samaran.", code="no_pseudonym")
    if case.unmasked_at is not None:
        raise Conflict("Nama samaran ini sudah pernah dibuka.", code="already_lifted")
    case.unmasked_at = db_time.now()
    audit.record(by, audit.AuditAction.PSEUDONYM_LIFTED, f"forum_case:{case.id}", reason=reason)
    access_log.record(by, author.id, access_log.AccessAction.PSEUDONYM_LIFTED, reason)
    notices.pseudonym_lifted(author.id, case.id)
    db.session.flush()
    return {"user_id": author.id, "username": author.username, "nama_ktp": author.nama_ktp}
