"""Roles as records; `app.identity.users` says who has which."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import assign, db, get_or_404, translating
from app.core.errors import AppError, Conflict, Forbidden
from app.core.web.pagination import Listing, Page, paginate
from app.identity import users
from app.identity.models import Role, RoleName
from app.roles.schemas import NewRole, RoleChanges

CONSTRAINTS: dict[str, AppError] = {"uq_roles_name": Conflict("Nama peran sudah dipakai.", code="role_taken")}
IN_USE = Conflict("Peran masih dimiliki oleh pengguna.", code="role_in_use")
NOT_FOUND = "Peran tidak ditemukan."


def list_all(page: Page) -> Listing[Role]:
    return paginate(sa.select(Role).order_by(Role.id), page)


def get(role_id: int) -> Role:
    return get_or_404(Role, role_id, NOT_FOUND)


def create(data: NewRole) -> Role:
    role = Role(**data)
    with translating(CONSTRAINTS):
        db.session.add(role)
    return role


def update(role_id: int, data: RoleChanges) -> Role:
    role = _get_editable(role_id)
    with translating(CONSTRAINTS):
        return assign(role, data)


def delete(role_id: int) -> None:
    role = _get_editable(role_id)
    with translating({}, in_use=IN_USE):
        db.session.delete(role)


def list_of_user(user_id: int) -> list[Role]:
    return users.get(user_id).roles


def seed() -> None:
    """The four roles that open routes; they cannot be changed."""
    db.session.execute(
        insert(Role)
        .values([{"name": name.value, "is_editable": False} for name in RoleName])
        .on_conflict_do_nothing(index_elements=[sa.text("lower(name)")])
    )


def _get_editable(role_id: int) -> Role:
    role = get(role_id)
    if not role.is_editable:
        raise Forbidden("Peran ini tidak dapat diubah atau dihapus.", code="role_not_editable")
    return role
