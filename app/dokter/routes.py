"""Routes of doctors."""

from __future__ import annotations

from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.caching import cached
from app.core.web.fields import Loaded, PositionSchema
from app.core.web.pagination import Listing, Page, PageSchema
from app.dokter import schemas, service
from app.dokter.models import Dokter
from app.dokter.schemas import DokterFilter
from app.identity.access import public, requires
from app.identity.models import RoleName
from app.identity.upload_limits import limit_admin_uploads

bp = Blueprint("dokter", __name__, url_prefix="/dokter", description="Doctors")


@bp.get("/nearby")
@public
@bp.arguments(PageSchema, location="query")
@bp.arguments(PositionSchema, location="query")
@bp.response(200, schemas.NearbyDokter(many=True))
def list_nearby_dokter(page: Page, position: dict[str, float]) -> Listing[Dokter]:
    """List doctors who practise in the province of a position, nearest first."""
    return service.nearby(**position, page=page)


@bp.get("")
@public
@cached(60)
@bp.arguments(schemas.DokterFilterSchema, location="query")
@bp.response(200, schemas.Dokter(many=True))
def list_dokter(search: DokterFilter) -> Listing[Dokter]:
    """List doctors, newest first. `q` searches name and speciality.

    The total of a filtered list is at most 10,000.
    """
    return service.list_all(search)


@bp.get("/<int:dokter_id>")
@public
@cached(60)
@bp.response(200, schemas.Dokter)
def get_dokter(dokter_id: int) -> Dokter:
    """Return one doctor."""
    return service.get(dokter_id)


@bp.post("")
@requires(RoleName.ADMIN)
@limit_admin_uploads
@bp.arguments(schemas.DokterCreate, location="multipart")
@bp.response(201, schemas.Dokter)
def create_dokter(data: Loaded) -> Dokter:
    """Add a doctor."""
    return service.create(data)


@bp.put("/<int:dokter_id>")
@requires(RoleName.ADMIN)
@limit_admin_uploads
@bp.arguments(schemas.DokterUpdate, location="multipart")
@bp.response(200, schemas.Dokter)
def update_dokter(data: Loaded, dokter_id: int) -> Dokter:
    """Update a doctor. Fields that are not sent stay unchanged, and `faskes_ids` replaces all facilities."""
    return service.update(dokter_id, data)


@bp.delete("/<int:dokter_id>")
@requires(RoleName.ADMIN)
@bp.response(200, MessageSchema)
def delete_dokter(dokter_id: int) -> dict[str, str]:
    """Delete a doctor."""
    service.delete(dokter_id)
    return {"message": "Dokter dihapus."}
