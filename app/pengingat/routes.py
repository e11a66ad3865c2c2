"""Reminders: the caller's, and with `patient_id` those of a patient who lets them manage these."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from flask import Response

from app.core.exports import streaming
from app.core.exports.streaming import MIMETYPES
from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.pagination import Listing
from app.core.web.rate_limits import limit
from app.identity.access import authenticated, by_caller, caller
from app.identity.access_log import Action
from app.pengingat import day, schemas, service
from app.pengingat.caregiving import on_behalf_of
from app.pengingat.day import Dose
from app.pengingat.ledger import answers, history, report
from app.pengingat.ledger import schemas as ledger_schemas
from app.pengingat.ledger.history import Adherence
from app.pengingat.ledger.schemas import Days, HistoryQuery, NewAnswer, ReportChoice
from app.pengingat.models import Occurrence, Pengingat
from app.pengingat.schemas import NewPengingat, PengingatChanges, Query, StockAddition, Whose

bp = Blueprint(
    "pengingat", __name__, url_prefix="/pengingat", description="Reminders of the caller, or of their patient"
)

#: By who writes, their own reminders and those of patients together.
limit_writes = limit("60 per minute; 2000 per day", key=by_caller, counter="pengingat")


def of_whom(view: Callable[..., object]) -> Callable[..., object]:
    """Take `patient_id`: whose reminders a view is about is its first argument."""
    return bp.arguments(schemas.WhoseSchema, location="query")(bp.alt_response(404, "NOT_FOUND")(view))


@bp.post("")
@authenticated
@limit_writes
@of_whom
@bp.arguments(schemas.PengingatCreate, examples={name: {"value": each} for name, each in schemas.EXAMPLES.items()})
@bp.response(201, schemas.PengingatCreated)
@bp.alt_response(409, "CONFLICT")
def create_reminder(whose: Whose, data: NewPengingat) -> Pengingat:
    """Make a reminder; `waktu` may be left out where the details say when."""
    return service.create(on_behalf_of.to_change(caller, whose), data)


@bp.post("/obat")
@authenticated
@limit_writes
@of_whom
@bp.arguments(schemas.ObatCreate, example=schemas.OBAT_EXAMPLE)
@bp.response(201, schemas.PengingatCreated)
@bp.alt_response(409, "CONFLICT")
def create_obat_reminder(whose: Whose, data: NewPengingat) -> Pengingat:
    """Make one reminder of every daily dose of a medicine."""
    return service.create(on_behalf_of.to_change(caller, whose), data)


@bp.get("")
@authenticated
@of_whom
@bp.arguments(schemas.QuerySchema, location="query")
@bp.response(200, schemas.Pengingat(many=True))
def list_reminders(whose: Whose, query: Query) -> Listing[Pengingat]:
    """The caller's reminders, newest first."""
    return service.list_all(on_behalf_of.to_read(caller, whose), query)


@bp.get("/<int:pengingat_id>")
@authenticated
@of_whom
@bp.response(200, schemas.Pengingat)
def get_reminder(whose: Whose, pengingat_id: int) -> Pengingat:
    """One reminder."""
    return service.get(on_behalf_of.to_read(caller, whose), pengingat_id)


@bp.put("/<int:pengingat_id>")
@authenticated
@limit_writes
@of_whom
@bp.arguments(schemas.PengingatUpdate)
@bp.response(200, schemas.Pengingat)
@bp.alt_response(409, "CONFLICT")
def update_reminder(whose: Whose, data: PengingatChanges, pengingat_id: int) -> Pengingat:
    """Change what is sent of a reminder."""
    return service.update(on_behalf_of.to_change(caller, whose), pengingat_id, data, on_behalf_of.via(caller, whose))


@bp.delete("/<int:pengingat_id>")
@authenticated
@limit_writes
@of_whom
@bp.response(200, MessageSchema)
def delete_reminder(whose: Whose, pengingat_id: int) -> dict[str, str]:
    """Delete a reminder, and what it would have sent."""
    service.delete(on_behalf_of.to_change(caller, whose), pengingat_id)
    return {"message": "Pengingat dihapus."}


@bp.post("/<int:pengingat_id>/persediaan")
@authenticated
@limit_writes
@of_whom
@bp.arguments(schemas.StockAdditionCreate)
@bp.response(200, schemas.Pengingat)
@bp.alt_response(409, "CONFLICT")
def add_stock(whose: Whose, data: StockAddition, pengingat_id: int) -> Pengingat:
    """Add what was bought of a medicine to what is left of it; 409 `stock_not_tracked` where nobody said that."""
    return service.add_stock(on_behalf_of.to_change(caller, whose), pengingat_id, data)


# --- the ledger -----------------------------------------------------------------------------------------------------


@bp.post("/<int:pengingat_id>/konfirmasi")
@authenticated
@limit_writes
@of_whom
@bp.arguments(ledger_schemas.AnswerCreate)
@bp.response(200, ledger_schemas.Occurrence)
@bp.alt_response(409, "CONFLICT")
def answer_reminder(whose: Whose, data: NewAnswer, pengingat_id: int) -> Occurrence:
    """Answer an occurrence with done, skipped or snooze, or take an answer back with undo.

    Without `due_at` it is the last one that is due and unanswered, else the next within 60 minutes. 409
    `too_early` more than 60 minutes before `due_at`, `already_closed` for answers that come too late, `cannot_snooze`
    after three times or past the next occurrence. An undo takes back the answer that was given last, or that of
    `due_at`, within 24 hours. 409 `nothing_to_undo` if there is none.

    `answered_at` is when done or skipped was said offline. It is accepted if the next occurrence had not fallen due
    then. An older answer does not replace a newer one, or an undo.
    """
    return answers.confirm(on_behalf_of.to_change(caller, whose), pengingat_id, data, on_behalf_of.via(caller, whose))


@bp.get("/hari-ini")
@authenticated
@of_whom
@bp.arguments(ledger_schemas.DayQuerySchema, location="query")
@bp.response(200, ledger_schemas.DoseOfDay(many=True))
def list_doses(whose: Whose, query: dict[str, date | None]) -> list[Dose]:
    """List what falls due today, or on the `date` given, in order: at most 100 times, not paged.

    A time stands on the day on which its message leaves, of kontrol the notice. Times beyond the ledger's 36 hours are
    `pending`. What was edited away is left out. Past times of a deleted reminder stay, without its id.
    """
    return day.list_doses(on_behalf_of.to_read(caller, whose, Action.HISTORY_READ), query["date"])


@bp.get("/riwayat")
@authenticated
@of_whom
@bp.arguments(ledger_schemas.HistoryQuerySchema, location="query")
@bp.response(200, ledger_schemas.Occurrence(many=True))
def list_history(whose: Whose, query: HistoryQuery) -> Listing[Occurrence]:
    """What has fallen due and what became of it, newest first; by default of the last 30 days."""
    return history.list_all(on_behalf_of.to_read(caller, whose, Action.HISTORY_READ), query)


@bp.get("/<int:pengingat_id>/riwayat")
@authenticated
@of_whom
@bp.arguments(ledger_schemas.HistoryQuerySchema, location="query")
@bp.response(200, ledger_schemas.Occurrence(many=True))
def list_reminder_history(whose: Whose, query: HistoryQuery, pengingat_id: int) -> Listing[Occurrence]:
    """The same of one reminder."""
    return history.list_of(on_behalf_of.to_read(caller, whose, Action.HISTORY_READ), pengingat_id, query)


@bp.get("/kepatuhan")
@authenticated
@of_whom
@bp.arguments(ledger_schemas.DaysSchema, location="query")
@bp.response(200, ledger_schemas.Adherence)
def get_adherence(whose: Whose, days: Days) -> Adherence:
    """How the caller kept to their reminders, in sum, by day and by reminder."""
    return history.adherence(on_behalf_of.to_read(caller, whose, Action.HISTORY_READ), days)


@bp.get("/kepatuhan/laporan")
@authenticated
@limit("30 per hour", key=by_caller)
@of_whom
@bp.arguments(ledger_schemas.ReportQuerySchema, location="query")
@bp.response(200, streaming.FILE, content_type=MIMETYPES["pdf"])
@bp.alt_response(200, schema=streaming.FILE, content_type=MIMETYPES["csv"])
@bp.alt_response(200, schema=streaming.FILE, content_type=MIMETYPES["xlsx"])
def export_adherence(whose: Whose, choice: ReportChoice) -> Response:
    """Download how the caller kept to their reminders: a page for the doctor (pdf), or by day (xlsx, csv)."""
    return streaming.download_response(
        report.export(on_behalf_of.to_read(caller, whose, Action.HISTORY_READ), **choice)
    )
