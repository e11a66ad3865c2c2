"""Communities."""

from __future__ import annotations

from typing import Any

from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.pagination import Page, PageSchema
from app.identity.access import public, requires
from app.identity.models import RoleName
from app.komunitas import schemas, service

bp = Blueprint("komunitas", __name__, url_prefix="/komunitas", description="Communities to join")


@bp.get("")
@public
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.KomunitasSchema(many=True))
def list_komunitas(page: Page) -> Any:
    """All communities, newest first."""
    return service.list_komunitas(page)


@bp.post("")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.KomunitasForm, location="multipart")
@bp.response(201, schemas.KomunitasSchema)
def create_komunitas(data: dict[str, Any]) -> Any:
    """Add a community."""
    return service.create_komunitas(data)


@bp.get("/<int:komunitas_id>")
@public
@bp.response(200, schemas.KomunitasSchema)
def get_komunitas(komunitas_id: int) -> Any:
    """One community."""
    return service.get_komunitas(komunitas_id)


@bp.put("/<int:komunitas_id>")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.KomunitasEdit, location="multipart")
@bp.response(200, schemas.KomunitasSchema)
def update_komunitas(data: dict[str, Any], komunitas_id: int) -> Any:
    """Change a community; what is not sent stays."""
    return service.update_komunitas(komunitas_id, data)


@bp.delete("/<int:komunitas_id>")
@requires(RoleName.ADMIN)
@bp.response(200, MessageSchema)
def delete_komunitas(komunitas_id: int) -> dict[str, str]:
    """Delete a community and its picture."""
    service.delete_komunitas(komunitas_id)
    return {"message": "Komunitas dihapus."}
