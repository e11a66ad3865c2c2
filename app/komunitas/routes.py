"""Routes of communities."""

from __future__ import annotations

from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.caching import cached
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing
from app.identity.access import public, requires
from app.identity.models import RoleName
from app.identity.upload_limits import limit_admin_uploads
from app.komunitas import schemas, service
from app.komunitas.models import Komunitas
from app.komunitas.schemas import KomunitasFilter
from app.komunitas.service import KomunitasRow

bp = Blueprint("komunitas", __name__, url_prefix="/komunitas", description="Communities to join")


@bp.get("")
@public
@cached(60)
@bp.arguments(schemas.KomunitasFilterSchema, location="query")
@bp.response(200, schemas.Komunitas(many=True))
def list_komunitas(search: KomunitasFilter) -> Listing[KomunitasRow]:
    """List communities, newest first. `q` searches name and description.

    The total of a filtered list is at most 10,000.
    """
    return service.list_all(search)


@bp.post("")
@requires(RoleName.ADMIN)
@limit_admin_uploads
@bp.arguments(schemas.KomunitasCreate, location="multipart")
@bp.response(201, schemas.Komunitas)
def create_komunitas(data: Loaded) -> Komunitas:
    """Add a community."""
    return service.create(data)


@bp.get("/<int:komunitas_id>")
@public
@cached(60)
@bp.response(200, schemas.Komunitas)
def get_komunitas(komunitas_id: int) -> Komunitas:
    """Return one community."""
    return service.get(komunitas_id)


@bp.put("/<int:komunitas_id>")
@requires(RoleName.ADMIN)
@limit_admin_uploads
@bp.arguments(schemas.KomunitasUpdate, location="multipart")
@bp.response(200, schemas.Komunitas)
def update_komunitas(data: Loaded, komunitas_id: int) -> Komunitas:
    """Update a community. Fields that are not sent stay unchanged."""
    return service.update(komunitas_id, data)


@bp.delete("/<int:komunitas_id>")
@requires(RoleName.ADMIN)
@bp.response(200, MessageSchema)
def delete_komunitas(komunitas_id: int) -> dict[str, str]:
    """Delete a community and its picture."""
    service.delete(komunitas_id)
    return {"message": "Komunitas dihapus."}
