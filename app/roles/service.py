"""Roles as records; who has which is `app.identity.users`' affair."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import Fields, assign, db, get_or_404, translating
from app.core.errors import AppError, Conflict, Forbidden
from app.core.web.pagination import Listing, Page, paginate
from app.identity.models import Role, RoleName, User

TAKEN: dict[str, AppError] = {"uq_roles_name": Conflict("Nama peran sudah dipakai.", code="role_taken")}
IN_USE = Conflict("Peran masih dimiliki oleh pengguna.", code="role_in_use")


def list_roles(page: Page) -> Listing[Role]:
    return paginate(sa.select(Role).order_by(Role.id), page)


def get_role(role_id: int) -> Role:
    return get_or_404(Role, role_id, "Peran tidak ditemukan.")


def create_role(data: Fields) -> Role:
    role = Role(**data)
    with translating(TAKEN):
        db.session.add(role)
    return role


def replace_role(role_id: int, data: Fields) -> Role:
    role = _editable(role_id)
    with translating(TAKEN):
        return assign(role, data)


def delete_role(role_id: int) -> None:
    role = _editable(role_id)
    with translating({}, in_use=IN_USE):
        db.session.delete(role)


def roles_of(user_id: int) -> list[Role]:
    return get_or_404(User, user_id, "Pengguna tidak ditemukan.").roles


def seed() -> None:
    """The four roles that open routes; they cannot be changed."""
    db.session.execute(
        insert(Role)
        .values([{"name": name.value, "is_editable": False} for name in RoleName])
        .on_conflict_do_nothing(index_elements=[sa.text("lower(name)")])
    )


def _editable(role_id: int) -> Role:
    role = get_role(role_id)
    if not role.is_editable:
        raise Forbidden("Peran ini tidak dapat diubah atau dihapus.", code="role_not_editable")
    return role
