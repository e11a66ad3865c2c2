"""Users, as administrators see and change them."""

from __future__ import annotations

import sqlalchemy as sa

from app.accounts import moves, notices
from app.admins.schemas import UserSearch
from app.core.errors import Forbidden
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, paginate
from app.identity import access_log, audit, roles, sessions, users
from app.identity.models import RoleName, User
from app.identity.sessions import Caller


def list_all(search: UserSearch) -> Listing[User]:
    """Return users, newest first. `search.q` matches a part of username, name, e-mail or phone."""
    return paginate(matching(search), search.page)


def matching(search: UserSearch) -> sa.Select[User]:
    query = sa.select(User)
    if search.q:
        query = query.where(users.matches(search.q))
    if search.role is not None:
        query = query.where(users.has_role(search.role))
    if search.is_verified is not None:
        query = query.where(User.is_verified.is_(search.is_verified))
    return query.order_by(User.created_at.desc(), User.id.desc())


def get(user_id: int, by: Caller) -> User:
    """Return a user with all fields, and add an entry to the user's access log.

    If a NIK or a pseudonym is shown, the audit log also gets an entry.
    """
    user = users.get(user_id)
    access_log.record(by, user.id, access_log.AccessAction.PROFILE_READ)
    shown = {audit.AuditAction.NIK_READ: user.nik, audit.AuditAction.PSEUDONYM_READ: user.nama_samaran}
    for action, value in shown.items():
        if value is not None:
            audit.record(by, action, f"user:{user.id}")
    if user.nik is not None:
        access_log.record(by, user.id, access_log.AccessAction.NIK_READ)
    return user


def update(user_id: int, data: Loaded, by: Caller) -> User:
    """Verify a user, or replace their roles. Roles change immediately in all sessions."""
    user = users.get_changeable(user_id, by)
    access_log.record(by, user.id, access_log.AccessAction.PROFILE_READ)
    is_verified = data.get("is_verified", user.is_verified)
    if is_verified != user.is_verified:
        users.update(user, {"is_verified": is_verified})
        audit.record(by, audit.AuditAction.USER_CHANGED, f"user:{user.id}", is_verified=user.is_verified)
    if "role_ids" in data:
        roles.replace_roles(user, data["role_ids"], by)
    return user


def end_sessions(user_id: int, reason: str, by: Caller) -> None:
    """End all sessions of a user and notify the user. Only the audit log contains the reason."""
    user = users.get_changeable(user_id, by)
    sessions.end_all(user.id)
    audit.record(by, audit.AuditAction.SESSIONS_ENDED, f"user:{user.id}", reason=reason)
    notices.changed_by_administrator(user.id, notices.SESSIONS_ENDED)


def free_phone(user_id: int, reason: str, by: Caller) -> User:
    """Remove the number from a user's account, so that the number's real owner can use the number.

    Raise `Forbidden` for a super-admin. A repeated call changes nothing.
    """
    user = users.get_changeable(user_id, by)
    if RoleName.SUPERADMIN in user.role_names:
        raise Forbidden("Nomor HP superadmin tidak dapat dilepas.")
    access_log.record(by, user.id, access_log.AccessAction.PROFILE_READ)
    if user.nomor_hp is not None:
        moves.free(user)
        notices.number_changed(user, notices.NUMBER_WAS_FREED)
        access_log.record(by, user.id, access_log.AccessAction.NUMBER_FREED, reason)
        audit.record(by, audit.AuditAction.NUMBER_FREED, f"user:{user.id}", reason=reason)
    return user
