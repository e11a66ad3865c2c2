"""Users, as administrators see and change them."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from app.accounts import moves, notices
from app.admins import schemas
from app.admins.schemas import UserSearch
from app.admins.service.reminders import missed_every_day
from app.core.database.session import db
from app.core.errors import Forbidden
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, count_all
from app.identity import access_log, audit, dependents, sessions, users
from app.identity.models import LoginSession, RoleName, User
from app.identity.sessions import Caller
from app.logs.models import ActivityLog
from app.roles import service as roles

#: Columns to sort by. The database has an index for each entry. The last column of an entry is unique, so the order is
#: always the same.
ORDERS = {
    "created_at": (User.created_at, User.id),
    "nama_ktp": (sa.func.lower(User.nama_ktp), User.id),
    "username": (sa.func.lower(User.username),),
}
assert set(ORDERS) == set(schemas.ORDERS)  # noqa: S101  # the API documentation lists the same orders

#: Time of a user's last activity: the last use of a session or the newest entry in the activity log.
_LAST_SEEN = sa.func.greatest(
    sa.select(sa.func.max(LoginSession.last_used_at)).where(LoginSession.user_id == User.id).scalar_subquery(),
    sa.select(sa.func.max(ActivityLog.created_at)).where(ActivityLog.user_id == User.id).scalar_subquery(),
)


def list_all(search: UserSearch) -> Listing[User]:
    """Return users in the order of `search.sort`. `search.q` matches a part of username, name, e-mail or phone."""
    page, order, conditions = search.page, order_of(search.sort), _conditions(search)
    matching = sa.select(User.id).where(User.id.not_in(dependents.DELETED_IDS), *conditions)
    rows = _loaded(matching.order_by(*order).offset(page.offset).limit(page.size), order)
    return Listing(rows, count_all(matching, page, len(rows)), page)


def with_last_seen() -> orm.interfaces.ORMOption:
    return orm.with_expression(User.last_seen_at, _LAST_SEEN)


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
        roles.replace_of_user(user_id, data["role_ids"], by)
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
        access_log.record(by, user.id, access_log.AccessAction.NUMBER_FREED, reason)
        audit.record(by, audit.AuditAction.NUMBER_FREED, f"user:{user.id}", reason=reason)
    return user


def _conditions(search: UserSearch) -> list[sa.ColumnElement[bool]]:
    conditions: list[sa.ColumnElement[bool]] = []
    if search.q:
        conditions.append(users.matches(search.q))
    if search.is_verified is not None:
        conditions.append(User.is_verified.is_(search.is_verified))
    if search.province is not None:
        conditions.append(User.domicile == search.province)
    if search.role is not None:
        conditions.append(users.has_role(search.role))
    if search.missed_days is not None:
        conditions.append(missed_every_day(search.missed_days))
    return conditions


def order_of(sort: str) -> list[sa.ColumnElement[Any]]:
    columns = ORDERS[sort.removeprefix("-")]
    return [column.desc() if sort.startswith("-") else column.asc() for column in columns]


def _loaded(ids: sa.Select[int], order: list[sa.ColumnElement[object]]) -> list[User]:
    """Return the users with these ids, in this order.

    The inner query selects only ids, so PostgreSQL can skip the rows before the offset without reading the table.
    """
    selected = ids.subquery()
    query = sa.select(User).join(selected, selected.c.id == User.id).order_by(*order)
    return list(db.session.scalars(query.options(with_last_seen())))
