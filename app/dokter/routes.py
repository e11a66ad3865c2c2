"""Doctors."""

from __future__ import annotations

from typing import Any

from flask import Response, jsonify

from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.fields import PositionSchema
from app.core.web.pagination import Page, PageSchema
from app.dokter import schemas, service
from app.identity.access import public, requires
from app.identity.models import RoleName

bp = Blueprint("dokter", __name__, url_prefix="/dokter", description="Doctors")


@bp.get("/nearby")
@public
@bp.arguments(PositionSchema, location="query")
@bp.response(200, schemas.NearbyDokterSchema(many=True))
def nearby(position: dict[str, float]) -> Response:
    """Doctors who practise in the province around a position, nearest first."""
    return jsonify(service.nearby(**position))


@bp.get("")
@public
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.DokterSchema(many=True))
def list_dokter(page: Page) -> Any:
    """All doctors, newest first."""
    return service.list_dokter(page)


@bp.get("/<int:dokter_id>")
@public
@bp.response(200, schemas.DokterSchema)
def get_dokter(dokter_id: int) -> Any:
    """One doctor."""
    return service.get(dokter_id)


@bp.post("")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.DokterForm, location="multipart")
@bp.response(201, schemas.DokterSchema)
def create_dokter(data: dict[str, Any]) -> Any:
    """Add a doctor."""
    return service.create(data)


@bp.put("/<int:dokter_id>")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.DokterEditForm, location="multipart")
@bp.response(200, schemas.DokterSchema)
def edit_dokter(data: dict[str, Any], dokter_id: int) -> Any:
    """Change a doctor; what is not sent stays, and `faskes_ids` replaces all facilities at once."""
    return service.edit(dokter_id, data)


@bp.delete("/<int:dokter_id>")
@requires(RoleName.ADMIN)
@bp.response(200, MessageSchema)
def delete_dokter(dokter_id: int) -> dict[str, str]:
    """Delete a doctor."""
    service.delete(dokter_id)
    return {"message": "Dokter dihapus."}
