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
@bp.arguments(schemas.NewReminderSchema)
@bp.response(201, schemas.ReminderSchema)
def create(data: dict[str, Any]) -> Any:
    """Make a reminder."""
    return service.create(caller.id, **data)


@bp.post("/obat")
@authenticated
@bp.arguments(schemas.ObatReminderSchema)
@bp.response(201, schemas.ReminderSchema)
def create_obat(data: dict[str, Any]) -> Any:
    """Make one reminder of every daily dose of a medicine."""
    return service.create(caller.id, tipe=Tipe.OBAT, **data)


@bp.get("")
@authenticated
@bp.arguments(PageSchema, location="query")
@bp.arguments(schemas.TipeQuerySchema, location="query")
@bp.response(200, schemas.ReminderSchema(many=True))
def list_reminders(page: Page, query: dict[str, str]) -> Any:
    """The caller's reminders, newest first."""
    return service.list_reminders(caller.id, page, **query)


@bp.get("/<int:reminder_id>")
@authenticated
@bp.response(200, schemas.ReminderSchema)
def read(reminder_id: int) -> Any:
    """One reminder."""
    return service.reminder_of(caller.id, reminder_id)


@bp.put("/<int:reminder_id>")
@authenticated
@bp.arguments(schemas.ReminderChangesSchema)
@bp.response(200, schemas.ReminderSchema)
def change(data: dict[str, Any], reminder_id: int) -> Any:
    """Change what is sent of a reminder."""
    return service.change(caller.id, reminder_id, data)


@bp.delete("/<int:reminder_id>")
@authenticated
@bp.response(200, MessageSchema)
def delete(reminder_id: int) -> dict[str, str]:
    """Delete a reminder, and what it would have sent."""
    service.delete(caller.id, reminder_id)
    return {"message": "Pengingat dihapus."}
