"""People, as administrators see and change them."""

from __future__ import annotations

from datetime import datetime, time, timedelta

import sqlalchemy as sa

from app.admins.schemas import UserChanges
from app.core.database.session import db
from app.core.lib.clock import JAKARTA
from app.core.web.pagination import Listing, Page, Search, contains
from app.identity import audit, users
from app.identity.models import SEARCHED, User, UserDay
from app.identity.sessions import Caller
from app.roles import service as roles

#: The total of a search counts no further than this: nobody pages so far, and counting all matches is slow.
MOST_COUNTED = 10_000


def list_all(search: Search) -> Listing[User]:
    """Everybody, newest first; `search.q` is a part of username, name, e-mail or phone number."""
    return _matching(search.q, search.page) if search.q else _everybody(search.page)


def get(user_id: int, by: Caller) -> User:
    """The whole person; that their NIK and their pseudonym were shown, where they are, goes into the audit log."""
    user = users.get(user_id)
    shown = {audit.Action.NIK_READ: user.nik, audit.Action.PSEUDONYM_READ: user.nama_samaran}
    for action, value in shown.items():
        if value is not None:
            audit.record(by, action, f"user:{user.id}", username=user.username)
    return user


def update(user_id: int, data: UserChanges, by: Caller) -> User:
    """Verify a person, or replace their roles, at once for all their sessions."""
    user = users.get_changeable(user_id, by)
    is_verified = data.get("is_verified", user.is_verified)
    if is_verified != user.is_verified:
        users.update(user, {"is_verified": is_verified})
        audit.record(
            by, audit.Action.USER_CHANGED, f"user:{user.id}", username=user.username, is_verified=user.is_verified
        )
    if "role_ids" in data:
        roles.replace_of_user(user_id, data["role_ids"], by)
    return user


def _everybody(page: Page) -> Listing[User]:
    """A page of everybody. `user_days` says on which day it begins, so it costs the same however deep it is."""
    later = sa.func.sum(UserDay.users).over(order_by=UserDay.day.desc()) - UserDay.users
    days = sa.select(UserDay.day, UserDay.users, later.label("later")).where(UserDay.users > 0).subquery()
    reached = days.c.later <= page.offset
    total, day, skipped = db.session.execute(
        sa.select(
            sa.func.coalesce(sa.func.sum(days.c.users), 0),
            sa.func.min(days.c.day).filter(reached),
            sa.func.max(days.c.later).filter(reached),
        )
    ).one()
    if day is None:
        return Listing([], 0, page)
    midnight = datetime.combine(day + timedelta(days=1), time(), JAKARTA)
    ids = _newest().where(User.created_at < midnight).offset(page.offset - int(skipped)).limit(page.size)
    return Listing(_loaded(ids), int(total), page)


def _matching(q: str, page: Page) -> Listing[User]:
    matches = sa.or_(*(getattr(User, name).ilike(contains(q)) for name in SEARCHED))
    rows = _loaded(_newest().where(matches).offset(page.offset).limit(page.size))
    if len(rows) < page.size and (rows or page.offset == 0):
        return Listing(rows, page.offset + len(rows), page)
    counted = sa.select(User.id).where(matches).limit(MOST_COUNTED).subquery()
    return Listing(rows, db.session.scalar(sa.select(sa.func.count()).select_from(counted)) or 0, page)


def _newest() -> sa.Select[int]:
    return sa.select(User.id).order_by(User.created_at.desc(), User.id.desc())


def _loaded(ids: sa.Select[int]) -> list[User]:
    """The people with these ids, newest first. What the offset skips is read from the index alone."""
    selected = ids.subquery()
    query = sa.select(User).join(selected, selected.c.id == User.id).order_by(User.created_at.desc(), User.id.desc())
    return list(db.session.scalars(query))
