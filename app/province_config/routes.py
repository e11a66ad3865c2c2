"""Routes of home page layouts."""

from __future__ import annotations

from app.core.web.blueprint import Blueprint
from app.core.web.caching import A_DAY_S, cached
from app.core.web.fields import Loaded, PositionSchema
from app.identity.access import public, requires
from app.identity.models import RoleName
from app.province_config import schemas, service
from app.province_config.models import ProvinceConfig

bp = Blueprint(
    "province_config", __name__, url_prefix="/province-config", description="Home page layout of each province"
)


@bp.get("/nearby")
@public
@cached(60, stale_if_error_s=A_DAY_S)
@bp.arguments(PositionSchema, location="query")
@bp.response(200, schemas.ProvinceConfig)
def get_nearby_province_config(position: dict[str, float]) -> ProvinceConfig:
    """Return the layout for the province at a position."""
    return service.nearby(**position)


@bp.get("/<province>")
@public
@cached(60, stale_if_error_s=A_DAY_S)
@bp.response(200, schemas.ProvinceConfig)
def get_province_config(province: str) -> ProvinceConfig:
    """Return the layout of a province, or of `default`, which is for users who are not logged in."""
    return service.get(province)


@bp.put("/<province>")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.ProvinceConfigUpdate)
@bp.response(200, schemas.ProvinceConfig)
def update_province_config(data: Loaded, province: str) -> ProvinceConfig:
    """Replace a layout. `order` is set to the position in the array."""
    return service.update(province, data)


@bp.delete("/<province>")
@requires(RoleName.ADMIN)
@bp.response(204)
def delete_province_config(province: str) -> None:
    """Delete a layout."""
    service.delete(province)
