"""The roles that people have: who may give and take which, and that the last administrator stays one."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import sqlalchemy as sa

from app.core.database.session import db, translating
from app.core.errors import AppError, BadRequest, Conflict, Forbidden, ValidationFailed
from app.identity import audit, dependents, erasure, sessions
from app.identity.models import PRIVILEGED, SELF_SERVICE, Role, RoleName, User, user_roles
from app.identity.sessions import Caller

#: A role that was deleted after it was looked up and before somebody got it.
ROLE_CONSTRAINTS: dict[str, AppError] = {"fk_user_roles_role_id": ValidationFailed({"role_ids": ["tidak dikenal."]})}

#: Roles of which somebody has to be left.
LAST = {RoleName.ADMIN: "Administrator", RoleName.SUPERADMIN: "Superadmin"}


def roles_named(names: Iterable[str]) -> list[Role]:
    return list(db.session.scalars(sa.select(Role).where(Role.name.in_(list(names))).order_by(Role.id)))


def roles_by_id(role_ids: Collection[int]) -> list[Role]:
    """The roles with these ids; `ValidationFailed` when one is unknown."""
    roles = list(db.session.scalars(sa.select(Role).where(Role.id.in_(role_ids)).order_by(Role.id)))
    if unknown := set(role_ids) - {role.id for role in roles}:
        raise ValidationFailed({"role_ids": [f"tidak dikenal: {', '.join(map(str, sorted(unknown)))}."]})
    return roles


def choose_own_roles(user: User, role_ids: Collection[int]) -> None:
    """Set which of `pasien` and `pendamping` the person has; all other roles stay as they are.

    `Forbidden` when `role_ids` names another role that the person does not have, `BadRequest` when no role would be
    left.
    """
    roles = roles_by_id(role_ids)
    if any(role.name not in SELF_SERVICE and role not in user.roles for role in roles):
        raise Forbidden("Peran tersebut hanya dapat diberikan oleh administrator.", code="role_not_allowed")
    others = [role for role in user.roles if role.name not in SELF_SERVICE]
    chosen = [role for role in roles if role.name in SELF_SERVICE]
    if user.roles and not others and not chosen:
        raise BadRequest("Sedikitnya satu peran harus dipilih.", code="role_needed")
    _check_may_lose(user, chosen)
    user.roles = sorted({*others, *chosen}, key=lambda role: role.id)
    db.session.flush()


def add_roles(user: User, role_ids: Collection[int], by: Caller) -> User:
    """Give roles to a person; those they have already are ignored."""
    roles = roles_by_id(role_ids)
    check_may_promote(roles, by)
    return _set_roles(user, {*user.roles, *roles}, by)


def remove_roles(user: User, role_ids: Collection[int], by: Caller) -> User:
    """Remove roles of a person, at once for all their sessions; `Conflict` for the last administrator."""
    roles = roles_by_id(role_ids)
    check_may_promote([role for role in roles if role in user.roles], by)
    return _set_roles(user, set(user.roles) - set(roles), by)


def replace_roles(user: User, role_ids: Collection[int], by: Caller) -> User:
    """Give a person these roles and no others."""
    roles = set(roles_by_id(role_ids))
    check_may_promote(roles ^ set(user.roles), by)
    return _set_roles(user, roles, by)


def set_only_role(user: User, name: RoleName) -> None:
    """Make one role the person's only one, by the operator's command; `Conflict` for the last administrator."""
    _set_roles(user, set(roles_named([name])), by=None)


def _set_roles(user: User, roles: set[Role], by: Caller | None) -> User:
    """Set the roles, at once for all the person's sessions, and record it; the last administrator stays one."""
    before, after = user.role_names, {role.name for role in roles}
    if RoleName.ADMIN in before - after:
        keep_last_admin(user)
    _check_may_lose(user, roles)
    if before != after:
        audit.record(
            by,
            audit.Action.ROLES_CHANGED,
            f"user:{user.id}",
            username=user.username,
            given=sorted(after - before),
            taken=sorted(before - after),
        )
    with translating(ROLE_CONSTRAINTS):
        user.roles = sorted(roles, key=lambda role: role.id)
    if not PRIVILEGED.isdisjoint(after - before):
        sessions.shorten(user.id)
    return user


def _check_may_lose(user: User, roles: Iterable[Role]) -> None:
    """`HasDependents` where a caregiver with dependents would be no caregiver by these roles. The person is locked."""
    if RoleName.PENDAMPING in user.role_names and all(role.name != RoleName.PENDAMPING for role in roles):
        dependents.check_none(user.id)


def keep_last_admin(user: User) -> None:
    """`Conflict` when `user` is the only administrator left. Waits for other transactions that check the same."""
    keep_last(user, RoleName.ADMIN)


def keep_last(user: User, name: RoleName) -> None:
    """As `keep_last_admin`, for any role. Who has asked to be erased does not count as one who is left."""
    role = db.session.scalars(sa.select(Role).where(Role.name == name).with_for_update(key_share=True)).one()
    others = sa.exists().where(
        user_roles.c.role_id == role.id,
        user_roles.c.user_id != user.id,
        User.id == user_roles.c.user_id,
        erasure.IS_PRESENT,
    )
    if not db.session.scalar(sa.select(others)):
        raise Conflict(f"{LAST[name]} terakhir tidak dapat dihapus.", code="last_admin")


def check_may_promote(roles: Iterable[Role], by: Caller) -> None:
    """`Forbidden` when `roles`, about to be given or removed, hold superadmin and `by` is none."""
    if any(role.name == RoleName.SUPERADMIN for role in roles) and not by.has(RoleName.SUPERADMIN):
        raise Forbidden("Hanya superadmin yang dapat memberi atau mencabut peran superadmin.", code="superadmin_only")
