"""Routes of roles and of the users who have them."""

from __future__ import annotations

from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.caching import cached
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, Page, PageSchema
from app.identity import schemas as identity_schemas
from app.identity import users
from app.identity.access import authenticated, caller, public, requires
from app.identity.models import Role, RoleName, User
from app.roles import schemas, service

bp = Blueprint("roles", __name__, description="Roles and the users who have them")


@bp.get("/roles")
@public
@cached(60)
@bp.arguments(PageSchema, location="query")
@bp.response(200, identity_schemas.Role(many=True))
def list_roles(page: Page) -> Listing[Role]:
    """List all roles, oldest first."""
    return service.list_all(page)


@bp.post("/roles")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.RoleCreate)
@bp.response(201, identity_schemas.Role)
def create_role(data: Loaded) -> Role:
    """Add a role."""
    return service.create(data)


@bp.get("/roles/<int:role_id>")
@public
@cached(60)
@bp.response(200, identity_schemas.Role)
def get_role(role_id: int) -> Role:
    """Return one role."""
    return service.get(role_id)


@bp.put("/roles/<int:role_id>")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.RoleUpdate)
@bp.response(200, identity_schemas.Role)
def update_role(data: Loaded, role_id: int) -> Role:
    """Update a role. The seeded roles cannot be changed."""
    return service.update(role_id, data)


@bp.delete("/roles/<int:role_id>")
@requires(RoleName.ADMIN)
@bp.response(200, MessageSchema)
def delete_role(role_id: int) -> dict[str, str]:
    """Delete a role that no user has. The seeded roles cannot be deleted."""
    service.delete(role_id)
    return {"message": "Peran dihapus."}


@bp.get("/users/<int:user_id>/roles")
@authenticated
@bp.response(200, identity_schemas.Role(many=True))
@bp.alt_response(403, "FORBIDDEN")
def list_user_roles(user_id: int) -> list[Role]:
    """List the roles of one user. Only administrators may request another user."""
    return users.get_visible(user_id, to=caller).roles


@bp.post("/admins/<int:user_id>/roles")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.RoleSelection)
@bp.response(200, identity_schemas.UserRoles)
def add_user_roles(data: Loaded, user_id: int) -> User:
    """Give roles to a user. Roles that the user already has are ignored."""
    return service.add_to_user(user_id, data["role_ids"], by=caller)


@bp.delete("/admins/<int:user_id>/roles")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.RoleSelection)
@bp.response(200, identity_schemas.UserRoles)
def remove_user_roles(data: Loaded, user_id: int) -> User:
    """Remove roles from a user. The change applies to all sessions at once."""
    return service.remove_from_user(user_id, data["role_ids"], by=caller)
