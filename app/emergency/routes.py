"""Emergency numbers."""

from __future__ import annotations

from typing import Any

from flask import Response, jsonify

from app.core.web.blueprint import Blueprint
from app.core.web.fields import PositionSchema
from app.core.web.pagination import AdminListSchema
from app.emergency import service
from app.emergency.schemas import NearbyNumbersSchema, NumberSchema
from app.identity.access import public, requires
from app.identity.models import RoleName

bp = Blueprint("emergency", __name__, url_prefix="/emergency", description="Emergency numbers of each province")


@bp.get("/nearby")
@public
@bp.arguments(PositionSchema, location="query")
@bp.response(200, NearbyNumbersSchema)
def nearby(position: dict[str, float]) -> Response:
    """Emergency numbers of the province around a position."""
    return jsonify(service.nearby(**position))


@bp.get("/admin")
@requires(RoleName.ADMIN)
@bp.arguments(AdminListSchema, location="query")
@bp.response(200, NumberSchema(many=True))
def list_numbers(query: dict[str, Any]) -> Any:
    """All emergency numbers, newest first."""
    return service.list_numbers(**query)


@bp.post("/admin")
@requires(RoleName.ADMIN)
@bp.arguments(NumberSchema)
@bp.response(201, NumberSchema)
def create_number(data: dict[str, Any]) -> Any:
    """Add an emergency number."""
    return service.create_number(data)


@bp.put("/<int:number_id>")
@requires(RoleName.ADMIN)
@bp.arguments(NumberSchema)
@bp.response(200, NumberSchema)
def replace_number(data: dict[str, Any], number_id: int) -> Any:
    """Change an emergency number."""
    return service.replace_number(number_id, data)


@bp.delete("/<int:number_id>")
@requires(RoleName.ADMIN)
@bp.response(204)
def delete_number(number_id: int) -> None:
    """Delete an emergency number."""
    service.delete_number(number_id)
