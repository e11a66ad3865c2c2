"""Routes for reminders of the caller, or with `patient_id` of a patient who allows the caller to manage them."""

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
from app.identity.access_log import AccessAction
from app.pengingat import day, schemas, service
from app.pengingat.caregiving import on_behalf_of
from app.pengingat.day import Dose
from app.pengingat.ledger import answers, history, report
from app.pengingat.ledger import schemas as ledger_schemas
from app.pengingat.ledger.history import Adherence
from app.pengingat.ledger.schemas import Days, HistoryQuery, NewAnswer, ReportChoice
from app.pengingat.models import Occurrence, Pengingat
from app.pengingat.schemas import NewPengingat, PengingatChanges, Query, StockAddition, Whose

bp = Blueprint("pengingat", __name__, url_prefix="/pengingat", description="Reminders of the caller, or of a patient")

#: Rate limit per caller, for their own and their patients' reminders together.
limit_writes = limit("60 per minute; 2000 per day", key=by_caller, counter="pengingat")


def of_whom(view: Callable[..., object]) -> Callable[..., object]:
    """Add the query parameter `patient_id` to a view, whose first argument becomes a `Whose`."""
    return bp.arguments(schemas.WhoseSchema, location="query")(bp.alt_response(404, "NOT_FOUND")(view))


@bp.post("")
@authenticated
@limit_writes
@of_whom
@bp.arguments(schemas.PengingatCreate, examples={name: {"value": each} for name, each in schemas.EXAMPLES.items()})
@bp.response(201, schemas.PengingatCreated)
@bp.alt_response(409, "CONFLICT")
def create_reminder(whose: Whose, data: NewPengingat) -> Pengingat:
    """Create a reminder. `waktu` is optional if the details contain the time."""
    return service.create(on_behalf_of.to_change(caller, whose), data)


@bp.post("/obat")
@authenticated
@limit_writes
@of_whom
@bp.arguments(schemas.ObatCreate, example=schemas.OBAT_EXAMPLE)
@bp.response(201, schemas.PengingatCreated)
@bp.alt_response(409, "CONFLICT")
def create_obat_reminder(whose: Whose, data: NewPengingat) -> Pengingat:
    """Create one reminder for all daily doses of a medicine."""
    return service.create(on_behalf_of.to_change(caller, whose), data)


@bp.get("")
@authenticated
@of_whom
@bp.arguments(schemas.QuerySchema, location="query")
@bp.response(200, schemas.Pengingat(many=True))
def list_reminders(whose: Whose, query: Query) -> Listing[Pengingat]:
    """List the caller's reminders, newest first."""
    return service.list_all(on_behalf_of.to_read(caller, whose), query)


@bp.get("/<int:pengingat_id>")
@authenticated
@of_whom
@bp.response(200, schemas.Pengingat)
def get_reminder(whose: Whose, pengingat_id: int) -> Pengingat:
    """Return one reminder."""
    return service.get(on_behalf_of.to_read(caller, whose), pengingat_id)


@bp.put("/<int:pengingat_id>")
@authenticated
@limit_writes
@of_whom
@bp.arguments(schemas.PengingatUpdate)
@bp.response(200, schemas.Pengingat)
@bp.alt_response(409, "CONFLICT")
def update_reminder(whose: Whose, data: PengingatChanges, pengingat_id: int) -> Pengingat:
    """Change a reminder. Fields that are not sent stay as they are."""
    return service.update(on_behalf_of.to_change(caller, whose), pengingat_id, data, on_behalf_of.via(caller, whose))


@bp.delete("/<int:pengingat_id>")
@authenticated
@limit_writes
@of_whom
@bp.response(200, MessageSchema)
def delete_reminder(whose: Whose, pengingat_id: int) -> dict[str, str]:
    """Delete a reminder, and cancel its messages."""
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
    """Add a purchase to the stock of a medicine.

    409 `stock_not_tracked` if the reminder has no stock (`persediaan`).
    """
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

    Without `due_at` the answer is for the last occurrence that is due and unanswered. If there is none, it is for the
    next one within 60 minutes. 409 `too_early` more than 60 minutes before `due_at`. 409 `already_closed` if it is too
    late for this answer. 409 `cannot_snooze` after three snoozes, or if the snooze would end after the next occurrence.
    404 if no occurrence is due at `due_at`, or if there is none to answer. `done` and `skipped` can replace each other
    for 24 hours. The same answer again is 200, and changes nothing.

    An undo takes back the last answer, or the answer for `due_at`, within 24 hours. 409 `nothing_to_undo` if there is
    no such answer.

    `answered_at` is the time at which done or skipped was given offline. The answer is accepted if the next occurrence
    was not due at that time. It does not replace a newer answer or a newer undo.
    """
    return answers.confirm(on_behalf_of.to_change(caller, whose), pengingat_id, data, on_behalf_of.via(caller, whose))


@bp.get("/hari-ini")
@authenticated
@of_whom
@bp.arguments(ledger_schemas.DayQuerySchema, location="query")
@bp.response(200, ledger_schemas.DoseOfDay(many=True))
def list_doses(whose: Whose, query: dict[str, date | None]) -> list[Dose]:
    """List the occurrences of today, or of the given `date`, in order of time.

    The list has at most 100 occurrences and no pages. An occurrence belongs to the day on which its message is sent;
    for kontrol that is the day of the notice. Occurrences more than 36 hours ahead are `pending`. Cancelled (`void`)
    occurrences are left out. Past occurrences of a deleted reminder stay, without its id.
    """
    return day.list_doses(on_behalf_of.to_read(caller, whose, AccessAction.HISTORY_READ), query["date"])


@bp.get("/riwayat")
@authenticated
@of_whom
@bp.arguments(ledger_schemas.HistoryQuerySchema, location="query")
@bp.response(200, ledger_schemas.Occurrence(many=True))
def list_history(whose: Whose, query: HistoryQuery) -> Listing[Occurrence]:
    """List past occurrences and their outcome, newest first. The default is the last 30 days."""
    return history.list_all(on_behalf_of.to_read(caller, whose, AccessAction.HISTORY_READ), query)


@bp.get("/<int:pengingat_id>/riwayat")
@authenticated
@of_whom
@bp.arguments(ledger_schemas.HistoryQuerySchema, location="query")
@bp.response(200, ledger_schemas.Occurrence(many=True))
def list_reminder_history(whose: Whose, query: HistoryQuery, pengingat_id: int) -> Listing[Occurrence]:
    """List past occurrences of one reminder, newest first. The default is the last 30 days."""
    return history.list_of(on_behalf_of.to_read(caller, whose, AccessAction.HISTORY_READ), pengingat_id, query)


@bp.get("/kepatuhan")
@authenticated
@of_whom
@bp.arguments(ledger_schemas.DaysSchema, location="query")
@bp.response(200, ledger_schemas.Adherence)
def get_adherence(whose: Whose, days: Days) -> Adherence:
    """Return how the caller kept to their reminders: totals, by day and by reminder."""
    return history.adherence(on_behalf_of.to_read(caller, whose, AccessAction.HISTORY_READ), days)


@bp.get("/kepatuhan/laporan")
@authenticated
@limit("30 per hour", key=by_caller)
@of_whom
@bp.arguments(ledger_schemas.ReportQuerySchema, location="query")
@bp.response(200, streaming.FILE, content_type=MIMETYPES["pdf"])
@bp.alt_response(200, schema=streaming.FILE, content_type=MIMETYPES["csv"])
@bp.alt_response(200, schema=streaming.FILE, content_type=MIMETYPES["xlsx"])
def export_adherence(whose: Whose, choice: ReportChoice) -> Response:
    """Download a report on how the caller kept to their reminders.

    pdf is one page for the doctor. xlsx and csv have rows by day and reminder.
    """
    return streaming.download_response(
        report.export(on_behalf_of.to_read(caller, whose, AccessAction.HISTORY_READ), **choice)
    )
