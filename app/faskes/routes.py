"""Health facilities."""

from __future__ import annotations

from typing import Any

from flask import Response, jsonify, request

from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.pagination import Listing, Page, PageSchema, headers
from app.core.web.rate_limits import limit
from app.faskes import schemas
from app.faskes.schemas import Around, Named
from app.faskes.service import editing, lookup
from app.identity.access import public, requires
from app.identity.models import RoleName

bp = Blueprint("faskes", __name__, url_prefix="/faskes", description="Health facilities")


@bp.get("/nearby")
@public
@bp.arguments(schemas.NearbySchema, location="query")
@bp.response(200, schemas.ResultsSchema)
def nearby(query: Around) -> Response:
    """Facilities around a position, nearest first; the places provider is asked where none is known."""
    return results(lookup.nearby(query))


@bp.get("/location")
@public
@bp.arguments(schemas.LocationSchema, location="query")
@bp.response(200, schemas.ResultsSchema)
def location(query: Around) -> Response:
    """Stored facilities within 50 km of a position, nearest first."""
    return results(lookup.location(query))


@bp.get("/search")
@public
@bp.arguments(schemas.SearchSchema, location="query")
@bp.response(200, schemas.ResultsSchema)
def search(query: Named) -> Response:
    """Facilities whose name contains a keyword."""
    return results(lookup.search(query.keyword, query.page))


@bp.get("")
@public
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.ResultsSchema)
def list_faskes(page: Page) -> Response:
    """All stored facilities, newest first."""
    return results(lookup.list_all(page))


@bp.get("/<faskes_id>")
@public
@limit("300 per minute")  # an unknown id costs a call of the provider
@bp.response(200, schemas.FaskesSchema)
@bp.alt_response(502, "BAD_GATEWAY")
@bp.alt_response(504, "GATEWAY_TIMEOUT")
def get_faskes(faskes_id: str) -> Response:
    """One facility by its place identifier."""
    return jsonify(lookup.get(faskes_id))


@bp.post("")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.FaskesForm)
@bp.response(201, schemas.FaskesSchema)
@bp.alt_response(409, "CONFLICT")
def create_faskes(data: dict[str, Any]) -> Any:
    """Add a facility."""
    return editing.create(data)


@bp.put("/<faskes_id>")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.FaskesEditForm)
@bp.response(200, schemas.FaskesSchema)
def edit_faskes(data: dict[str, Any], faskes_id: str) -> Any:
    """Change a facility; what is not sent stays."""
    return editing.edit(faskes_id, data)


@bp.delete("/<faskes_id>")
@requires(RoleName.ADMIN)
@bp.response(200, MessageSchema)
def delete_faskes(faskes_id: str) -> dict[str, str]:
    """Delete a facility; doctors lose it from theirs."""
    editing.delete(faskes_id)
    return {"message": "Fasilitas kesehatan dihapus."}


def results(listing: Listing[Any]) -> Response:
    """The section's own shape of a list, with the paging headers of all."""
    response = jsonify({"results": listing.rows, "status": "OK" if listing.total else "ZERO_RESULTS"})
    response.headers.update(headers(listing, request))
    return response
