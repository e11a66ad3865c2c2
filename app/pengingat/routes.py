"""Reminders."""

from __future__ import annotations

from flask import Response

from app.core.exports import streaming
from app.core.exports.streaming import MIMETYPES
from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.pagination import Listing
from app.core.web.rate_limits import limit
from app.identity.access import authenticated, caller
from app.pengingat import answers, history, ledger_schemas, report, schemas, service
from app.pengingat.history import Adherence
from app.pengingat.ledger_schemas import Days, HistoryQuery, NewAnswer, ReportChoice
from app.pengingat.models import Occurrence, Pengingat
from app.pengingat.schemas import NewPengingat, PengingatChanges, Query, StockAddition

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


@bp.post("/<int:pengingat_id>/persediaan")
@authenticated
@bp.arguments(schemas.StockAdditionCreate)
@bp.response(200, schemas.Pengingat)
@bp.alt_response(409, "CONFLICT")
def add_stock(data: StockAddition, pengingat_id: int) -> Pengingat:
    """Add what was bought of a medicine to what is left of it; 409 `stock_not_tracked` where nobody said that."""
    return service.add_stock(caller.id, pengingat_id, data)


# --- the ledger -----------------------------------------------------------------------------------------------------


@bp.post("/<int:pengingat_id>/konfirmasi")
@authenticated
@bp.arguments(ledger_schemas.AnswerCreate)
@bp.response(200, ledger_schemas.Occurrence)
@bp.alt_response(409, "CONFLICT")
def answer_reminder(data: NewAnswer, pengingat_id: int) -> Occurrence:
    """Answer an occurrence: done, skipped, or snooze.

    Without `due_at` it is the last one that is due and unanswered, else the next within 60 minutes. 409
    `already_closed` for answers that come too late, `cannot_snooze` after three times or past the next occurrence.
    """
    return answers.confirm(caller.id, pengingat_id, data)


@bp.get("/riwayat")
@authenticated
@bp.arguments(ledger_schemas.HistoryQuerySchema, location="query")
@bp.response(200, ledger_schemas.Occurrence(many=True))
def list_history(query: HistoryQuery) -> Listing[Occurrence]:
    """What has fallen due and what became of it, newest first; by default of the last 30 days."""
    return history.list_all(caller.id, query)


@bp.get("/<int:pengingat_id>/riwayat")
@authenticated
@bp.arguments(ledger_schemas.HistoryQuerySchema, location="query")
@bp.response(200, ledger_schemas.Occurrence(many=True))
def list_reminder_history(query: HistoryQuery, pengingat_id: int) -> Listing[Occurrence]:
    """The same of one reminder."""
    return history.list_of(caller.id, pengingat_id, query)


@bp.get("/kepatuhan")
@authenticated
@bp.arguments(ledger_schemas.DaysSchema, location="query")
@bp.plain_response(200, ledger_schemas.Adherence)
def get_adherence(days: Days) -> Adherence:
    """How the caller kept to their reminders, in sum, by day and by reminder."""
    return history.adherence(caller.id, days)


@bp.get("/kepatuhan/laporan")
@authenticated
@limit("30 per hour", key=lambda: str(caller.id))
@bp.arguments(ledger_schemas.ReportQuerySchema, location="query")
@bp.response(200, streaming.FILE, content_type=MIMETYPES["pdf"])
@bp.alt_response(200, schema=streaming.FILE, content_type=MIMETYPES["csv"])
@bp.alt_response(200, schema=streaming.FILE, content_type=MIMETYPES["xlsx"])
def export_adherence(choice: ReportChoice) -> Response:
    """Download how the caller kept to their reminders: a page for the doctor (pdf), or by day (csv, xlsx)."""
    return streaming.download_response(report.export(caller.id, **choice))
