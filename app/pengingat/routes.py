"""Routes for reminders of the caller. With the parameter `patient_id`, a route handles reminders of a patient."""

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
from app.pengingat import day, schemas, service
from app.pengingat.caregiving import on_behalf_of
from app.pengingat.day import Dose
from app.pengingat.ledger import answers, history, report
from app.pengingat.ledger import schemas as ledger_schemas
from app.pengingat.ledger.history import Adherence
from app.pengingat.ledger.schemas import Days, HistoryQuery, NewAnswer
from app.pengingat.models import Occurrence, Pengingat
from app.pengingat.schemas import NewPengingat, PatientQuery, PengingatChanges, Query, StockAddition

bp = Blueprint("pengingat", __name__, url_prefix="/pengingat", description="Reminders of the caller, or of a patient")

#: Rate limit of each caller. Changes to the caller's own reminders and to patients' reminders count together.
limit_changes = limit("60 per minute; 200 per day", key=by_caller, counter="pengingat")
#: Rate limit of answers.
limit_answers = limit("60 per minute", key=by_caller, counter="konfirmasi")


def takes_patient_id(view: Callable[..., object]) -> Callable[..., object]:
    """Add the query parameter `patient_id` to a view. The view receives the parameter as a `PatientQuery`."""
    return bp.arguments(schemas.PatientQuerySchema, location="query")(view)


@bp.post("")
@authenticated
@limit_changes
@takes_patient_id
@bp.arguments(schemas.PengingatCreate, examples={name: {"value": each} for name, each in schemas.EXAMPLES.items()})
@bp.response(201, schemas.Pengingat)
def create_reminder(whose: PatientQuery, data: NewPengingat) -> Pengingat:
    """Create a reminder. `waktu` (its time) is optional if `details` contains the time."""
    return service.create(on_behalf_of.to_change(caller, whose), data)


@bp.post("/obat")
@authenticated
@limit_changes
@takes_patient_id
@bp.arguments(schemas.ObatCreate, example=schemas.OBAT_EXAMPLE)
@bp.response(201, schemas.Pengingat)
def create_obat_reminder(whose: PatientQuery, data: NewPengingat) -> Pengingat:
    """Create one reminder for all daily doses of a medicine."""
    return service.create(on_behalf_of.to_change(caller, whose), data)


@bp.get("")
@authenticated
@takes_patient_id
@bp.arguments(schemas.QuerySchema, location="query")
@bp.response(200, schemas.Pengingat(many=True))
def list_reminders(whose: PatientQuery, query: Query) -> Listing[Pengingat]:
    """List the caller's reminders, newest first."""
    return service.list_all(on_behalf_of.to_read(caller, whose), query)


@bp.get("/<int:pengingat_id>")
@authenticated
@takes_patient_id
@bp.response(200, schemas.Pengingat)
def get_reminder(whose: PatientQuery, pengingat_id: int) -> Pengingat:
    """Return one reminder."""
    return service.get(on_behalf_of.to_read(caller, whose), pengingat_id)


@bp.put("/<int:pengingat_id>")
@authenticated
@limit_changes
@takes_patient_id
@bp.arguments(schemas.PengingatUpdate)
@bp.response(200, schemas.Pengingat)
def update_reminder(whose: PatientQuery, data: PengingatChanges, pengingat_id: int) -> Pengingat:
    """Change a reminder. Fields that are not sent stay as they are."""
    return service.update(on_behalf_of.to_change(caller, whose), pengingat_id, data, on_behalf_of.via(caller, whose))


@bp.delete("/<int:pengingat_id>")
@authenticated
@limit_changes
@takes_patient_id
@bp.response(200, MessageSchema)
def delete_reminder(whose: PatientQuery, pengingat_id: int) -> dict[str, str]:
    """Delete a reminder, and cancel its messages."""
    service.delete(on_behalf_of.to_change(caller, whose), pengingat_id)
    return {"message": "Pengingat dihapus."}


@bp.post("/<int:pengingat_id>/persediaan")
@authenticated
@limit_changes
@takes_patient_id
@bp.arguments(schemas.StockAdditionCreate)
@bp.response(200, schemas.Pengingat)
def add_stock(whose: PatientQuery, data: StockAddition, pengingat_id: int) -> Pengingat:
    """Add a purchase to the stock of a medicine.

    The error is 409 `stock_not_tracked` if `details` has no stock (`persediaan`).
    """
    return service.add_stock(on_behalf_of.to_change(caller, whose), pengingat_id, data)


# --- the ledger -----------------------------------------------------------------------------------------------------


@bp.post("/<int:pengingat_id>/konfirmasi")
@authenticated
@limit_answers
@takes_patient_id
@bp.arguments(ledger_schemas.AnswerCreate)
@bp.response(200, ledger_schemas.Occurrence)
def answer_reminder(whose: PatientQuery, data: NewAnswer, pengingat_id: int) -> Occurrence:
    """Answer an occurrence with done, skipped or snooze, or take an answer back with undo.

    An occurrence is one due time of a reminder. `due_at` selects the occurrence. The default is the last due occurrence
    if it is unanswered or was answered in the last two minutes, or else the next one within 60 minutes.

    `done` and `skipped` can replace each other for 24 hours. An identical second answer returns 200 and has no effect.
    `undo` takes back the last answer, or the answer for `due_at`, within 24 hours.

    `answered_at` is the time when the person answered `done` or `skipped` offline. The answer is accepted if the next
    occurrence was not due at that time. An offline answer does not replace a newer answer or a newer undo.

    Errors:

    - 404 if there is no occurrence at `due_at`, or no occurrence to answer.
    - 409 `too_early` if `due_at` is more than 60 minutes ahead.
    - 409 `already_closed` if the time for this answer is over.
    - 409 `cannot_snooze` after three snoozes, or if the snooze would end after the next occurrence.
    - 409 `nothing_to_undo` if there is no answer to take back.
    """
    return answers.confirm(on_behalf_of.to_change(caller, whose), pengingat_id, data, on_behalf_of.via(caller, whose))


@bp.get("/hari-ini")
@authenticated
@takes_patient_id
@bp.arguments(ledger_schemas.DayQuerySchema, location="query")
@bp.response(200, ledger_schemas.DoseOfDay(many=True))
def list_doses(whose: PatientQuery, query: dict[str, date | None]) -> list[Dose]:
    """List the occurrences of today, or of the given `date`, in order of time.

    An occurrence is one due time of a reminder. The list has at most 100 occurrences and no pages.

    - An occurrence belongs to the day on which its message is sent. For kontrol this is the day of the notice.
    - Cancelled occurrences (`void`) are left out.
    - Past occurrences of a deleted reminder are included, with `pengingat_id` null.
    """
    return day.list_doses(on_behalf_of.to_read_history(caller, whose), query["date"])


@bp.get("/riwayat")
@authenticated
@takes_patient_id
@bp.arguments(ledger_schemas.HistoryQuerySchema, location="query")
@bp.response(200, ledger_schemas.Occurrence(many=True))
def list_history(whose: PatientQuery, query: HistoryQuery) -> Listing[Occurrence]:
    """List past due times of all reminders and their outcome, newest first. The default is the last 30 days."""
    return history.list_all(on_behalf_of.to_read_history(caller, whose), query)


@bp.get("/<int:pengingat_id>/riwayat")
@authenticated
@takes_patient_id
@bp.arguments(ledger_schemas.HistoryQuerySchema, location="query")
@bp.response(200, ledger_schemas.Occurrence(many=True))
def list_reminder_history(whose: PatientQuery, query: HistoryQuery, pengingat_id: int) -> Listing[Occurrence]:
    """List past due times of one reminder and their outcome, newest first. The default is the last 30 days."""
    return history.list_of(on_behalf_of.to_read_history(caller, whose), pengingat_id, query)


@bp.get("/kepatuhan")
@authenticated
@takes_patient_id
@bp.arguments(ledger_schemas.DaysSchema, location="query")
@bp.response(200, ledger_schemas.Adherence)
def get_adherence(whose: PatientQuery, days: Days) -> Adherence:
    """Return how many reminders the caller answered or missed: in total, by day and by reminder."""
    return history.adherence(on_behalf_of.to_read_history(caller, whose), days)


@bp.get("/kepatuhan/laporan")
@authenticated
@limit("30 per hour", key=by_caller)
@takes_patient_id
@bp.arguments(ledger_schemas.DaysSchema, location="query")
@bp.response(200, streaming.FILE, content_type=MIMETYPES["pdf"])
def export_adherence(whose: PatientQuery, days: Days) -> Response:
    """Download a PDF for the doctor: how many reminders the caller answered or missed."""
    return streaming.download_response(report.export(on_behalf_of.to_read_history(caller, whose), days))
