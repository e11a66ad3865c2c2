"""Reminders."""

from __future__ import annotations

from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.pagination import Listing
from app.identity.access import authenticated, caller
from app.pengingat import schemas, service
from app.pengingat.models import Pengingat
from app.pengingat.schemas import NewPengingat, PengingatChanges, Query

bp = Blueprint("pengingat", __name__, url_prefix="/pengingat", description="Reminders of the caller")


@bp.post("")
@authenticated
@bp.arguments(schemas.PengingatCreate)
@bp.response(201, schemas.PengingatCreated)
@bp.alt_response(409, "CONFLICT")
def create_reminder(data: NewPengingat) -> Pengingat:
    """Make a reminder; `waktu` may be left out where the details say when."""
    return service.create(caller.id, data)


@bp.post("/obat")
@authenticated
@bp.arguments(schemas.ObatCreate)
@bp.response(201, schemas.PengingatCreated)
@bp.alt_response(409, "CONFLICT")
def create_obat_reminder(data: NewPengingat) -> Pengingat:
    """Make one reminder of every daily dose of a medicine."""
    return service.create(caller.id, data)


@bp.get("")
@authenticated
@bp.arguments(schemas.QuerySchema, location="query")
@bp.response(200, schemas.Pengingat(many=True))
def list_reminders(query: Query) -> Listing[Pengingat]:
    """The caller's reminders, newest first."""
    return service.list_all(caller.id, query)


@bp.get("/<int:pengingat_id>")
@authenticated
@bp.response(200, schemas.Pengingat)
def get_reminder(pengingat_id: int) -> Pengingat:
    """One reminder."""
    return service.get(caller.id, pengingat_id)


@bp.put("/<int:pengingat_id>")
@authenticated
@bp.arguments(schemas.PengingatUpdate)
@bp.response(200, schemas.Pengingat)
@bp.alt_response(409, "CONFLICT")
def update_reminder(data: PengingatChanges, pengingat_id: int) -> Pengingat:
    """Change what is sent of a reminder."""
    return service.update(caller.id, pengingat_id, data)


@bp.delete("/<int:pengingat_id>")
@authenticated
@bp.response(200, MessageSchema)
def delete_reminder(pengingat_id: int) -> dict[str, str]:
    """Delete a reminder, and what it would have sent."""
    service.delete(caller.id, pengingat_id)
    return {"message": "Pengingat dihapus."}
