"""Routes of content categories."""

from __future__ import annotations

from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.caching import cached
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, Page, PageSchema
from app.identity.access import public, requires
from app.identity.models import RoleName
from app.kategori import schemas, service
from app.kategori.models import Kategori

bp = Blueprint("kategori", __name__, url_prefix="/kategori", description="Content categories")


@bp.get("")
@public
@cached(60)
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.Kategori(many=True))
def list_kategori(page: Page) -> Listing[Kategori]:
    """List all content categories by name."""
    return service.list_all(page)


@bp.post("")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.KategoriCreate)
@bp.response(201, schemas.Kategori)
def create_kategori(data: Loaded) -> Kategori:
    """Add a content category."""
    return service.create(data)


@bp.put("/<int:kategori_id>")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.KategoriCreate)
@bp.response(200, schemas.Kategori)
def update_kategori(data: Loaded, kategori_id: int) -> Kategori:
    """Rename a content category."""
    return service.update(kategori_id, data)


@bp.delete("/<int:kategori_id>")
@requires(RoleName.ADMIN)
@bp.response(200, MessageSchema)
def delete_kategori(kategori_id: int) -> dict[str, str]:
    """Delete a content category that no article or community uses."""
    service.delete(kategori_id)
    return {"message": "Kategori dihapus."}
