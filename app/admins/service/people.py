"""Administrators and users, as administrators see and change them."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta

import sqlalchemy as sa

from app.admins.schemas import AdminChanges, NewAdmin, PersonChanges
from app.core.database.session import db
from app.core.errors import Conflict, NotFound
from app.core.lib.clock import JAKARTA
from app.core.media import pictures
from app.core.web.pagination import Listing, Page, contains, paginate
from app.forum.service import toggles
from app.identity import audit, usernames, users
from app.identity.models import SEARCHED, RoleName, User, UserDay
from app.identity.sessions import PRIVILEGED, Caller

NOT_FOUND = "Administrator tidak ditemukan."

#: The total of a search counts no further than this: nobody pages so far, and counting all matches is slow.
MOST_COUNTED = 10_000


# --- users ----------------------------------------------------------------------------------------------------------


def people(page: Page, q: str | None) -> Listing[User]:
    """Everybody, newest first; `q` is a part of username, name, e-mail or phone number."""
    return _matching(q, page) if q else _all(page)


def person(user_id: int, by: Caller) -> User:
    """The whole person; that their NIK was shown, where there is one, goes into the audit log."""
    user = users.get(user_id)
    if user.nik is not None:
        audit.record(by, audit.Action.NIK_READ, f"user:{user.id}", username=user.username)
    return user


def change_person(user_id: int, data: PersonChanges, by: Caller) -> User:
    """Verify a person, or replace their roles, at once for all their sessions."""
    user = users.get_changeable(user_id, by)
    is_verified = data.get("is_verified", user.is_verified)
    if is_verified != user.is_verified:
        users.update(user, {"is_verified": is_verified})
        audit.record(
            by, audit.Action.USER_CHANGED, f"user:{user.id}", username=user.username, is_verified=user.is_verified
        )
    if "role_ids" in data:
        users.replace_roles(user_id, data["role_ids"], by)
    return user


def _all(page: Page) -> Listing[User]:
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


# --- administrators -------------------------------------------------------------------------------------------------


def admins(page: Page, q: str | None) -> Listing[User]:
    """Everybody with the role admin, newest first."""
    query = users.with_role(RoleName.ADMIN)
    if q:
        query = query.where(sa.or_(*(getattr(User, name).ilike(contains(q)) for name in SEARCHED)))
    return paginate(query, page)


def admin_named(username: str) -> User:
    query = users.with_role(RoleName.ADMIN).where(sa.func.lower(User.username) == username.lower())
    admin = db.session.scalar(query) if usernames.problem(username) is None else None
    if admin is None:
        raise NotFound(NOT_FOUND)
    return admin


def create_admin(data: NewAdmin, by: Caller) -> User:
    """A new administrator; without a username one is made from the e-mail."""
    role = RoleName(data.get("role", RoleName.ADMIN))
    users.check_may_promote(users.roles_named([role]), by)
    admin = users.create(
        {
            "username": data.get("username") or _free_username(data["email"]),
            "email": data["email"],
            "password": data["password"],
            "nama_ktp": data["nama_ktp"],
            "nomor_hp": data.get("nomor_hp"),
            "image": data.get("image"),
        },
        [role],
    )
    audit.record(by, audit.Action.ADMIN_CREATED, f"user:{admin.id}", username=admin.username, role=role)
    return admin


def edit_admin(user_id: int, data: AdminChanges, by: Caller) -> User:
    """Change what `data` names; a new password ends every session of the administrator."""
    admin = _get_changeable(user_id, by)
    if fields := sorted(data.keys() - {"role"}):
        users.update(admin, data)
        audit.record(by, audit.Action.USER_CHANGED, f"user:{admin.id}", username=admin.username, fields=fields)
    if "role" in data:
        roles = [role for role in admin.roles if role.name not in PRIVILEGED] + users.roles_named([data["role"]])
        users.replace_roles(user_id, {role.id for role in roles}, by)
    return admin


def delete_admin(user_id: int, by: Caller) -> None:
    """Delete an administrator for good; never oneself, and never the last one."""
    admin = _get_changeable(user_id, by)
    if admin.id == by.id:
        raise Conflict("Anda tidak dapat menghapus akun Anda sendiri.", code="own_account")
    if RoleName.ADMIN in admin.role_names:
        users.keep_last_admin(admin)
    audit.record(by, audit.Action.DELETED, f"user:{admin.id}", username=admin.username, roles=sorted(admin.role_names))
    toggles.take_back_all(admin.id)
    pictures.discard(admin.image)
    db.session.delete(admin)
    db.session.flush()


def _get_changeable(user_id: int, by: Caller) -> User:
    user = users.get_changeable(user_id, by)
    if user.role_names.isdisjoint(PRIVILEGED):
        raise NotFound(NOT_FOUND)
    return user


def _free_username(email: str) -> str:
    """`rina.wijaya` for `rina.wijaya+kantor@example.com`, or `rina.wijaya2` when somebody has that."""
    base = re.sub(r"[^a-z0-9_.]", "", email.partition("@")[0].partition("+")[0].lower())[:40]
    if usernames.problem(base):
        base = f"admin.{base}".rstrip(".")
    used = set(
        db.session.scalars(
            sa.select(sa.func.lower(User.username)).where(
                sa.func.lower(User.username).startswith(base, autoescape=True)
            )
        )
    )
    return next(name for n in range(1, len(used) + 2) if (name := base if n == 1 else f"{base}{n}") not in used)
