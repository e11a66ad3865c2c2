"""Create, list, update and delete administrators."""

from __future__ import annotations

import re
import secrets

import sqlalchemy as sa

from app.accounts import notices
from app.accounts import service as accounts
from app.core.database.session import db
from app.core.errors import Conflict, Forbidden, NotFound
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, Search, paginate
from app.forum.service import marks
from app.identity import access_log, audit, own_password, roles, second_factor, sessions, usernames, users
from app.identity.models import PRIVILEGED, RoleName, User
from app.identity.sessions import Caller
from app.personal_data import service as personal_data

NOT_FOUND = "Administrator tidak ditemukan."


def list_all(search: Search) -> Listing[User]:
    """Return all users with the role admin, newest first."""
    query = users.with_role(RoleName.ADMIN)
    if search.q:
        query = query.where(users.matches(search.q))
    return paginate(query, search.page)


def get(username: str, by: Caller) -> User:
    query = users.with_role(RoleName.ADMIN).where(sa.func.lower(User.username) == username.lower())
    admin = db.session.scalar(query) if usernames.problem(username) is None else None
    if admin is None:
        raise NotFound(NOT_FOUND)
    access_log.record(by, admin.id, access_log.AccessAction.PROFILE_READ)
    return admin


def create(data: Loaded, by: Caller) -> User:
    """Create an administrator. If no username is given, derive one from the e-mail."""
    role = RoleName(data.get("role", RoleName.ADMIN))
    roles.check_may_promote(roles.roles_named([role]), by)
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
        is_staff=role == RoleName.ADMIN,
    )
    audit.record(by, audit.AuditAction.ADMIN_CREATED, f"user:{admin.id}", role=role)
    return admin


def update(user_id: int, data: Loaded, by: Caller) -> User:
    """Update the fields in `data`. A new password ends all sessions of the administrator, but not the caller's session.

    If callers change their own password or contact, they may have to send the current password (see `PROFILE_REAUTH`).
    The password and the phone number give access to an account. Therefore only super-admins change those of another
    administrator, unless it is a staff account.
    """
    admin = _get_changeable(user_id, by)
    access_log.record(by, admin.id, access_log.AccessAction.PROFILE_READ)
    changes = users.credentials_changed(admin, data)
    is_own = admin.id == by.id
    if is_own:
        accounts.check_may_change(admin, changes, data.get("current_password"))
    elif changes - {"email"} and not admin.is_staff and not by.has(RoleName.SUPERADMIN):
        raise Forbidden(
            "Hanya superadmin yang dapat mengubah kata sandi dan nomor HP akun ini.", code="superadmin_only"
        )
    phone_before = admin.phone
    if fields := sorted(data.keys() - {"role", "current_password"}):
        users.update(admin, data, keep_session=by.session_id if is_own else None)
        accounts.notify_of_change(admin, changes, phone_before)
        audit.record(by, audit.AuditAction.USER_CHANGED, f"user:{admin.id}", fields=fields)
    if "role" in data:
        kept = [role for role in admin.roles if role.name not in PRIVILEGED] + roles.roles_named([data["role"]])
        roles.replace_roles(admin, {role.id for role in kept}, by)
    return admin


def delete(user_id: int, by: Caller) -> str:
    """Delete a staff account with all its data. Any other administrator keeps the account, and loses the roles.

    Return a message that says which. Raise `Conflict` for the caller's own account and for the last administrator.
    """
    if user_id == by.id:
        raise Conflict("Anda tidak dapat menghapus akun Anda sendiri.", code="own_account")
    if users.get(user_id).is_staff:
        # Lock posts before users, because all writes of the forum lock in the same order. Likes and saves that are
        # added between this call and the lock of the user are removed by `erase_now`.
        marks.remove_all(user_id)
    admin = _get_changeable(user_id, by, to_delete=True)
    if not admin.is_staff:
        kept = [role for role in admin.roles if role.name not in PRIVILEGED] or roles.roles_named([RoleName.PASIEN])
        roles.replace_roles(admin, {role.id for role in kept}, by)
        sessions.end_all(user_id)
        return "Peran administrator dicabut. Akunnya tetap ada."
    roles.keep_last_admin(admin)
    names = sorted(admin.role_names)
    personal_data.erase_now(admin)
    audit.record(by, audit.AuditAction.DELETED, f"user:{user_id}", roles=names)
    return "Administrator dihapus."


def remove_otp(user_id: int, reason: str, password: str, otp: str | None = None, *, by: Caller) -> None:
    """Remove a user's second factor and end the user's sessions.

    The caller is a super-admin, and confirms with their own password and second factor.
    """
    if not by.has(RoleName.SUPERADMIN):
        raise Forbidden("Hanya superadmin yang dapat mematikan verifikasi dua langkah.", code="superadmin_only")
    if user_id == by.id:
        raise Conflict("Matikan verifikasi dua langkah Anda sendiri di profil Anda.", code="own_account")
    second_factor.check_again(own_password.get_confirmed(by, password), otp)
    user = users.get_changeable(user_id, by)
    if not second_factor.remove(user.id):
        raise NotFound(second_factor.NOT_ACTIVE)
    sessions.end_all(user.id)
    audit.record(by, audit.AuditAction.SECOND_FACTOR_REMOVED, f"user:{user.id}", reason=reason)
    notices.changed_by_administrator(user.id, notices.SECOND_FACTOR_REMOVED)


def _get_changeable(user_id: int, by: Caller, *, to_delete: bool = False) -> User:
    user = users.get_changeable(user_id, by, to_delete=to_delete)
    if user.role_names.isdisjoint(PRIVILEGED):
        raise NotFound(NOT_FOUND)
    return user


def _free_username(email: str) -> str:
    """Return `rina.wijaya` for `rina.wijaya+kantor@example.com`. If that name is taken, append four digits."""
    base = re.sub(r"[^a-z0-9_.]", "", email.partition("@")[0].partition("+")[0].lower())[:40]
    if usernames.problem(base):
        base = f"admin.{base}".rstrip(".")
    name = base
    while users.username_exists(name):
        name = f"{base}{secrets.randbelow(10_000):04}"
    return name
