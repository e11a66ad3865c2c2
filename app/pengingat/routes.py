"""Reminders."""

from __future__ import annotations

from typing import Any

from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.pagination import Page, PageSchema
from app.identity.access import authenticated, caller
from app.pengingat import jobs, schemas, service
from app.pengingat.models import Tipe

__all__ = ["bp", "jobs"]  # the clock finds the section's jobs through its routes

bp = Blueprint("pengingat", __name__, url_prefix="/pengingat", description="Reminders of the caller")


@bp.post("")
@authenticated
@bp.arguments(schemas.PengingatCreate)
@bp.response(201, schemas.Pengingat)
def create_pengingat(data: dict[str, Any]) -> Any:
    """Make a reminder."""
    return service.create(caller.id, **data)


@bp.post("/obat")
@authenticated
@bp.arguments(schemas.ObatCreate)
@bp.response(201, schemas.Pengingat)
def create_obat(data: dict[str, Any]) -> Any:
    """Make one reminder of every daily dose of a medicine."""
    return service.create(caller.id, tipe=Tipe.OBAT, **data)


@bp.get("")
@authenticated
@bp.arguments(PageSchema, location="query")
@bp.arguments(schemas.TipeQuerySchema, location="query")
@bp.response(200, schemas.Pengingat(many=True))
def list_pengingat(page: Page, query: dict[str, str]) -> Any:
    """The caller's reminders, newest first."""
    return service.list_all(caller.id, page, **query)


@bp.get("/<int:pengingat_id>")
@authenticated
@bp.response(200, schemas.Pengingat)
def get_pengingat(pengingat_id: int) -> Any:
    """One reminder."""
    return service.get(caller.id, pengingat_id)


@bp.put("/<int:pengingat_id>")
@authenticated
@bp.arguments(schemas.PengingatUpdate)
@bp.response(200, schemas.Pengingat)
def update_pengingat(data: dict[str, Any], pengingat_id: int) -> Any:
    """Change what is sent of a reminder."""
    return service.update(caller.id, pengingat_id, data)


@bp.delete("/<int:pengingat_id>")
@authenticated
@bp.response(200, MessageSchema)
def delete_pengingat(pengingat_id: int) -> dict[str, str]:
    """Delete a reminder, and what it would have sent."""
    service.delete(caller.id, pengingat_id)
    return {"message": "Pengingat dihapus."}
