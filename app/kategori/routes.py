"""Content categories."""

from __future__ import annotations

from typing import Any

from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.pagination import Page, PageSchema
from app.identity.access import public, requires
from app.identity.models import RoleName
from app.kategori import service
from app.kategori.schemas import KategoriSchema

bp = Blueprint("kategori", __name__, url_prefix="/kategori", description="Content categories")


@bp.get("")
@public
@bp.arguments(PageSchema, location="query")
@bp.response(200, KategoriSchema(many=True))
def list_kategori(page: Page) -> Any:
    """All content categories, by name."""
    return service.list_kategori(page)


@bp.post("")
@requires(RoleName.ADMIN)
@bp.arguments(KategoriSchema)
@bp.response(201, KategoriSchema)
@bp.alt_response(409, "CONFLICT")
def create_kategori(data: dict[str, Any]) -> Any:
    """Add a content category."""
    return service.create_kategori(data)


@bp.put("/<int:kategori_id>")
@requires(RoleName.ADMIN)
@bp.arguments(KategoriSchema)
@bp.response(200, KategoriSchema)
@bp.alt_response(409, "CONFLICT")
def replace_kategori(data: dict[str, Any], kategori_id: int) -> Any:
    """Rename a content category."""
    return service.replace_kategori(kategori_id, data)


@bp.delete("/<int:kategori_id>")
@requires(RoleName.ADMIN)
@bp.response(200, MessageSchema)
@bp.alt_response(409, "CONFLICT")
def delete_kategori(kategori_id: int) -> dict[str, str]:
    """Delete a content category that nothing refers to."""
    service.delete_kategori(kategori_id)
    return {"message": "Kategori dihapus."}
