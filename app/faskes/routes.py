"""Routes of health facilities."""

from __future__ import annotations

from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.caching import cached
from app.core.web.fields import Loaded
from app.core.web.pagination import Page, PageSchema
from app.core.web.rate_limits import limit
from app.faskes import schemas
from app.faskes.models import Faskes
from app.faskes.schemas import FaskesFilter, NearbyQuery
from app.faskes.service import facilities, nearby
from app.faskes.service.facilities import Results
from app.identity.access import public, requires
from app.identity.models import RoleName

bp = Blueprint("faskes", __name__, url_prefix="/faskes", description="Health facilities")


@bp.get("/nearby")
@public
@limit("60 per minute")  # limited, because a search may cost a provider call
@bp.arguments(schemas.NearbySchema, location="query")
@bp.plain_response(200, schemas.NearbyFaskesResults)
def list_nearby_faskes(query: NearbyQuery) -> Results:
    """List facilities around a position, nearest first. If none is stored there, search the places provider."""
    return nearby.nearby(query)


@bp.get("/location")
@public
@bp.arguments(schemas.LocationSchema, location="query")
@bp.response(200, schemas.NearbyFaskesResults)
def list_faskes_by_location(query: NearbyQuery) -> Results:
    """List stored facilities within 50 km of a position, nearest first."""
    return facilities.location(query)


@bp.get("/search")
@public
@cached(60)
@bp.arguments(PageSchema, location="query")
@bp.arguments(schemas.KeywordQuery, location="query")
@bp.plain_response(200, schemas.FaskesResults)
def search_faskes(page: Page, query: dict[str, str]) -> Results:
    """List stored facilities whose name contains a keyword. The total is at most 10,000."""
    return facilities.search(query["keyword"], page)


@bp.get("")
@public
@cached(60)
@bp.arguments(schemas.FaskesFilterSchema, location="query")
@bp.response(200, schemas.FaskesResults)
def list_faskes(search: FaskesFilter) -> Results:
    """List stored facilities, newest first. `q` searches name and address.

    The total of a filtered list is at most 10,000.
    """
    return facilities.list_all(search)


@bp.get("/<faskes_id>")
@public
@cached(60)
@bp.response(200, schemas.Faskes)
def get_faskes(faskes_id: str) -> Faskes:
    """Return one facility by its place identifier."""
    return facilities.get(faskes_id)


@bp.post("")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.FaskesCreate)
@bp.response(201, schemas.Faskes)
def create_faskes(data: Loaded) -> Faskes:
    """Add a facility."""
    return facilities.create(data)


@bp.put("/<faskes_id>")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.FaskesUpdate)
@bp.response(200, schemas.Faskes)
def update_faskes(data: Loaded, faskes_id: str) -> Faskes:
    """Update a facility. Fields that are not sent stay unchanged."""
    return facilities.update(faskes_id, data)


@bp.delete("/<faskes_id>")
@requires(RoleName.ADMIN)
@bp.response(200, MessageSchema)
def delete_faskes(faskes_id: str) -> dict[str, str]:
    """Delete a facility, also from the doctors who practise there."""
    facilities.delete(faskes_id)
    return {"message": "Fasilitas kesehatan dihapus."}
