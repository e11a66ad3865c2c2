"""Changes of people's roles. Rules limit who may give or remove a role. The last administrator cannot lose the role."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import sqlalchemy as sa

from app.core.database.session import db, map_constraint_errors
from app.core.errors import AppError, BadRequest, Conflict, Forbidden, ValidationFailed
from app.identity import audit, dependents, erasure, sessions
from app.identity.models import PRIVILEGED, SELF_SERVICE, Role, RoleName, User, user_roles
from app.identity.sessions import Caller

#: Error by database constraint. The constraint is violated if another request deletes the role at the same time.
ROLE_CONSTRAINTS: dict[str, AppError] = {"fk_user_roles_role_id": ValidationFailed({"role_ids": ["tidak dikenal."]})}

#: Roles that at least one person must have. The values are the names of the roles in the error message.
LAST = {RoleName.ADMIN: "Administrator", RoleName.SUPERADMIN: "Superadmin"}


def roles_named(names: Iterable[str]) -> list[Role]:
    return list(db.session.scalars(sa.select(Role).where(Role.name.in_(list(names))).order_by(Role.id)))


def roles_by_id(role_ids: Collection[int]) -> list[Role]:
    """Return the roles with these ids. Raise `ValidationFailed` for an unknown id."""
    roles = list(db.session.scalars(sa.select(Role).where(Role.id.in_(role_ids)).order_by(Role.id)))
    if unknown := set(role_ids) - {role.id for role in roles}:
        raise ValidationFailed({"role_ids": [f"tidak dikenal: {', '.join(map(str, sorted(unknown)))}."]})
    return roles


def choose_own_roles(user: User, role_ids: Collection[int]) -> None:
    """Replace a person's roles `pasien` and `pendamping` by those in `role_ids`. All other roles stay unchanged.

    Raise `Forbidden` if `role_ids` has any other role that the person does not have already. Raise `BadRequest` if the
    person would lose all roles.
    """
    roles = roles_by_id(role_ids)
    if any(role.name not in SELF_SERVICE and role not in user.roles for role in roles):
        raise Forbidden("Peran tersebut hanya dapat diberikan oleh administrator.", code="role_not_allowed")
    others = [role for role in user.roles if role.name not in SELF_SERVICE]
    chosen = [role for role in roles if role.name in SELF_SERVICE]
    if user.roles and not others and not chosen:
        raise BadRequest("Sedikitnya satu peran harus dipilih.", code="role_needed")
    _check_may_lose(user, chosen)
    _assign(user, {*others, *chosen})
    db.session.flush()


def add_roles(user: User, role_ids: Collection[int], by: Caller) -> User:
    roles = roles_by_id(role_ids)
    check_may_promote(roles, by)
    return _set_roles(user, {*user.roles, *roles}, by)


def remove_roles(user: User, role_ids: Collection[int], by: Caller) -> User:
    """Remove roles of a person. Raise `Conflict` if the last administrator would lose the administrator role."""
    roles = roles_by_id(role_ids)
    check_may_promote([role for role in roles if role in user.roles], by)
    return _set_roles(user, set(user.roles) - set(roles), by)


def replace_roles(user: User, role_ids: Collection[int], by: Caller) -> User:
    roles = set(roles_by_id(role_ids))
    check_may_promote(roles ^ set(user.roles), by)
    return _set_roles(user, roles, by)


def set_only_role(user: User, name: RoleName) -> None:
    """Replace all roles of a person by one role. Raise `Conflict` if the last administrator would lose this role."""
    _set_roles(user, set(roles_named([name])), by=None)


def _set_roles(user: User, roles: set[Role], by: Caller | None) -> User:
    """Set the roles of a person, and record the change in the audit log. The change applies to all sessions at once."""
    before, after = user.role_names, {role.name for role in roles}
    if RoleName.ADMIN in before - after:
        keep_last_admin(user)
    _check_may_lose(user, roles)
    if before != after:
        audit.record(
            by,
            audit.AuditAction.ROLES_CHANGED,
            f"user:{user.id}",
            given=sorted(after - before),
            taken=sorted(before - after),
        )
    with map_constraint_errors(ROLE_CONSTRAINTS):
        _assign(user, roles)
    if not PRIVILEGED.isdisjoint(after - before):
        sessions.shorten(user.id)
    return user


def _assign(user: User, roles: Iterable[Role]) -> None:
    user.roles = sorted(roles, key=lambda role: role.id)
    user.is_staff = user.is_staff and user.role_names <= {RoleName.ADMIN}


def _check_may_lose(user: User, roles: Iterable[Role]) -> None:
    """Raise `HasDependents` if a caregiver with dependents would lose the caregiver role. The person must be locked."""
    if RoleName.PENDAMPING in user.role_names and all(role.name != RoleName.PENDAMPING for role in roles):
        dependents.check_none(user.id)


def keep_last_admin(user: User) -> None:
    """Raise `Conflict` if `user` is the last administrator. Lock the role, so that simultaneous checks wait."""
    keep_last(user, RoleName.ADMIN)


def keep_last(user: User, name: RoleName) -> None:
    """Raise `Conflict` if no other person has the role `name`. People who have requested erasure do not count."""
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
    """Raise `Forbidden` if a person who is no super-admin gives or removes the super-admin role."""
    if any(role.name == RoleName.SUPERADMIN for role in roles) and not by.has(RoleName.SUPERADMIN):
        raise Forbidden("Hanya superadmin yang dapat memberi atau mencabut peran superadmin.", code="superadmin_only")
