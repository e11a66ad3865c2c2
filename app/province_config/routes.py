"""Home page layouts."""

from __future__ import annotations

from typing import Any

from app.core.web.blueprint import Blueprint
from app.core.web.fields import PositionSchema
from app.identity.access import public, requires
from app.identity.models import RoleName
from app.province_config import schemas, service

bp = Blueprint(
    "province_config", __name__, url_prefix="/province-config", description="Home page layout of each province"
)


@bp.get("/nearby")
@public
@bp.arguments(PositionSchema, location="query")
@bp.response(200, schemas.ConfigSchema)
@bp.alt_response(404, "NOT_FOUND")
def nearby(position: dict[str, float]) -> Any:
    """The layout of the province around a position."""
    return service.nearby(**position)


@bp.get("/<province>")
@public
@bp.response(200, schemas.ConfigSchema)
def get_config(province: str) -> Any:
    """The layout of a province, or of `default`, the home page of those who are not logged in."""
    return service.get(province)


@bp.put("/<province>")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.ConfigForm)
@bp.response(200, schemas.ConfigSchema)
def replace_config(data: dict[str, Any], province: str) -> Any:
    """Save a layout in place of the one before; `order` becomes the place in the array."""
    return service.replace(province, **data)


@bp.delete("/<province>")
@requires(RoleName.ADMIN)
@bp.response(204)
def delete_config(province: str) -> None:
    """Delete a layout."""
    service.delete(province)
