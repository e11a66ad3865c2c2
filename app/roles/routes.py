"""Roles, and which people have them."""

from __future__ import annotations

from typing import Any

from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.pagination import Page, PageSchema
from app.identity import schemas as identity_schemas
from app.identity import users
from app.identity.access import caller, public, requires
from app.identity.models import RoleName
from app.roles import schemas, service

bp = Blueprint("roles", __name__, description="Roles, and which people have them")


@bp.get("/roles")
@public
@bp.arguments(PageSchema, location="query")
@bp.response(200, identity_schemas.Role(many=True))
def list_roles(page: Page) -> Any:
    """All roles."""
    return service.list_roles(page)


@bp.post("/roles")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.RoleCreate)
@bp.response(201, identity_schemas.Role)
@bp.alt_response(409, "CONFLICT")
def create_role(data: dict[str, Any]) -> Any:
    """Add a role."""
    return service.create_role(data)


@bp.get("/roles/<int:role_id>")
@public
@bp.response(200, identity_schemas.Role)
def get_role(role_id: int) -> Any:
    """One role."""
    return service.get_role(role_id)


@bp.put("/roles/<int:role_id>")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.RoleUpdate)
@bp.response(200, identity_schemas.Role)
@bp.alt_response(409, "CONFLICT")
def replace_role(data: dict[str, Any], role_id: int) -> Any:
    """Change a role; the seeded ones are refused."""
    return service.replace_role(role_id, data)


@bp.delete("/roles/<int:role_id>")
@requires(RoleName.ADMIN)
@bp.response(200, MessageSchema)
@bp.alt_response(409, "CONFLICT")
def delete_role(role_id: int) -> dict[str, str]:
    """Delete a role that nobody has; the seeded ones are refused."""
    service.delete_role(role_id)
    return {"message": "Peran dihapus."}


@bp.get("/users/<int:user_id>/roles")
@public
@bp.response(200, identity_schemas.Role(many=True))
def roles_of(user_id: int) -> Any:
    """The roles of one person."""
    return service.roles_of(user_id)


@bp.post("/admins/<int:user_id>/roles")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.RoleIds)
@bp.response(200, identity_schemas.UserRoles)
def add_roles(data: dict[str, list[int]], user_id: int) -> Any:
    """Give roles to a person; those they have already are ignored."""
    return users.add_roles(user_id, data["role_ids"], by=caller)


@bp.delete("/admins/<int:user_id>/roles")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.RoleIds)
@bp.response(200, identity_schemas.UserRoles)
@bp.alt_response(409, "CONFLICT")
def remove_roles(data: dict[str, list[int]], user_id: int) -> Any:
    """Take roles away from a person, at once for all their sessions."""
    return users.remove_roles(user_id, data["role_ids"], by=caller)
