"""Creation, change and deletion of roles."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import assign, db, get_locked_or_404, get_or_404, map_constraint_errors
from app.core.errors import AppError, Conflict, Forbidden
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, Page, paginate
from app.identity import roles, users
from app.identity.models import Role, RoleName, User
from app.identity.sessions import Caller

CONSTRAINTS: dict[str, AppError] = {"uq_roles_name": Conflict("Nama peran sudah dipakai.", code="role_taken")}
IN_USE = Conflict("Peran masih dimiliki oleh pengguna.", code="role_in_use")
NOT_FOUND = "Peran tidak ditemukan."


def list_all(page: Page) -> Listing[Role]:
    """Return all roles, oldest first. The four roles that `seed` inserts are therefore at the top."""
    return paginate(sa.select(Role).order_by(Role.id), page)


def get(role_id: int) -> Role:
    return get_or_404(Role, role_id, NOT_FOUND)


def create(data: Loaded) -> Role:
    role = Role(**data)
    with map_constraint_errors(CONSTRAINTS):
        db.session.add(role)
    return role


def update(role_id: int, data: Loaded) -> Role:
    role = _get_editable(role_id)
    with map_constraint_errors(CONSTRAINTS):
        return assign(role, data)


def delete(role_id: int) -> None:
    role = _get_editable(role_id)
    with map_constraint_errors({}, in_use=IN_USE):
        db.session.delete(role)


def add_to_user(user_id: int, role_ids: Collection[int], by: Caller) -> User:
    """Give roles to a user. Roles that the user already has are ignored."""
    return roles.add_roles(users.get_changeable(user_id, by), role_ids, by)


def remove_from_user(user_id: int, role_ids: Collection[int], by: Caller) -> User:
    """Remove roles from a user, at once for all sessions. Raise `Conflict` for the last administrator."""
    return roles.remove_roles(users.get_changeable(user_id, by), role_ids, by)


def seed() -> None:
    """Insert the four seeded roles, which cannot be changed."""
    db.session.execute(
        insert(Role)
        .values([{"name": name.value, "is_editable": False} for name in RoleName])
        .on_conflict_do_nothing(index_elements=[sa.text("lower(name)")])
    )


def _get_editable(role_id: int) -> Role:
    role = get_locked_or_404(Role, role_id, NOT_FOUND)
    if not role.is_editable:
        raise Forbidden("Peran ini tidak dapat diubah atau dihapus.", code="role_not_editable")
    return role
