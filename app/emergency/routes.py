"""Routes of emergency numbers."""

from __future__ import annotations

from app.core.web.blueprint import Blueprint
from app.core.web.caching import A_DAY_S, cached
from app.core.web.fields import Loaded, PositionSchema
from app.core.web.pagination import Listing, Search, SearchSchema
from app.emergency import schemas, service
from app.emergency.models import EmergencyNumber
from app.identity.access import public, requires
from app.identity.models import RoleName

bp = Blueprint("emergency", __name__, url_prefix="/emergency", description="Emergency numbers of each province")


@bp.get("/nearby")
@public
@cached(60, stale_if_error_s=A_DAY_S)
@bp.arguments(PositionSchema, location="query")
@bp.response(200, schemas.NearbyNumbers)
def list_nearby_emergency_numbers(position: dict[str, float]) -> dict[str, object]:
    """Return the emergency numbers of the province at a position.

    Outside Indonesia `province` is null and `phones` is empty.
    """
    return service.nearby(**position)


@bp.get("/admin")
@requires(RoleName.ADMIN)
@bp.arguments(SearchSchema, location="query")
@bp.response(200, schemas.EmergencyNumber(many=True))
def list_emergency_numbers(search: Search) -> Listing[EmergencyNumber]:
    """List all emergency numbers, newest first."""
    return service.list_all(search)


@bp.post("/admin")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.EmergencyNumberCreate)
@bp.response(201, schemas.EmergencyNumber)
def create_emergency_number(data: Loaded) -> EmergencyNumber:
    """Add an emergency number."""
    return service.create(data)


@bp.put("/<int:number_id>")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.EmergencyNumberCreate)
@bp.response(200, schemas.EmergencyNumber)
def update_emergency_number(data: Loaded, number_id: int) -> EmergencyNumber:
    """Update an emergency number."""
    return service.update(number_id, data)


@bp.delete("/<int:number_id>")
@requires(RoleName.ADMIN)
@bp.response(204)
def delete_emergency_number(number_id: int) -> None:
    """Delete an emergency number."""
    service.delete(number_id)
