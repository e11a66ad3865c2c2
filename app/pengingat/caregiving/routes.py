"""Routes for caregivers who read a patient's history.

To change a patient's reminders, caregivers use the parameter `patient_id` of the reminder routes.
"""

from __future__ import annotations

from app.core.web.blueprint import Blueprint
from app.core.web.pagination import Listing
from app.identity.access import authenticated, caller
from app.pengingat.caregiving import on_behalf_of
from app.pengingat.ledger import history, schemas
from app.pengingat.ledger.history import Adherence
from app.pengingat.ledger.schemas import Days, HistoryQuery
from app.pengingat.models import Occurrence

bp = Blueprint(
    "patient_history", __name__, url_prefix="/caregiver/patients", description="History of a patient, for caregivers"
)


@bp.get("/<int:patient_id>/riwayat")
@authenticated
@bp.arguments(schemas.HistoryQuerySchema, location="query")
@bp.response(200, schemas.Occurrence(many=True))
def list_patient_history(query: HistoryQuery, patient_id: int) -> Listing[Occurrence]:
    """List past due times of a patient's reminders and their outcome, newest first.

    The patient must grant the caller `history`. The patient sees each request in their access log.
    """
    return history.list_all(on_behalf_of.history_of_patient(caller, patient_id), query)


@bp.get("/<int:patient_id>/kepatuhan")
@authenticated
@bp.arguments(schemas.DaysSchema, location="query")
@bp.response(200, schemas.Adherence)
def get_patient_adherence(days: Days, patient_id: int) -> Adherence:
    """Return how many reminders a patient answered or missed: in total, by day and by reminder.

    The patient must grant the caller `history`. The patient sees each request in their access log.
    """
    return history.adherence(on_behalf_of.history_of_patient(caller, patient_id), days)
