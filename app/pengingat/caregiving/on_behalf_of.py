"""Access checks for requests about a patient's reminders.

Each allowed request is recorded in the patient's access log. A caller without permission gets `NotFound`, so that the
response does not show whether the patient exists.
"""

from __future__ import annotations

from app.core.errors import NotFound
from app.identity import access_log, care, users
from app.identity.access_log import AccessAction
from app.identity.care import Scope
from app.identity.sessions import Caller
from app.pengingat.models import AnsweredVia
from app.pengingat.schemas import PatientQuery


def to_read(by: Caller, whose: PatientQuery) -> int:
    """Return the id of the person whose reminders the caller reads.

    Raise `NotFound` if the person is a patient who does not grant the caller `Scope.MANAGE`.
    """
    return _read(by, whose, AccessAction.REMINDERS_READ, Scope.MANAGE)


def to_read_history(by: Caller, whose: PatientQuery) -> int:
    """Return the id of the person whose history the caller reads.

    Raise `NotFound` if the person is a patient who grants the caller neither `Scope.HISTORY` nor `Scope.MANAGE`.
    """
    return _read(by, whose, AccessAction.HISTORY_READ, Scope.HISTORY, Scope.MANAGE)


def to_change(by: Caller, whose: PatientQuery) -> int:
    """Return the id of the person whose reminders the caller changes.

    If the person is a patient, lock the patient and the caregiver link. The permission then stays until the commit.
    Raise `NotFound` if the patient does not grant the caller `Scope.MANAGE`.
    """
    patient_id = _patient(by, whose)
    if patient_id is None:
        return by.id
    if users.lock(patient_id) is None:  # the deletion of a person also locks the person first
        raise NotFound(care.NOT_FOUND)
    care.check_locked(by.id, patient_id, Scope.MANAGE)
    access_log.record(by, patient_id, AccessAction.REMINDERS_CHANGED)
    return patient_id


def via(by: Caller, whose: PatientQuery) -> AnsweredVia:
    """Return what is recorded as the origin of this caller's answer: the app, or a caregiver."""
    return AnsweredVia.APP if _patient(by, whose) is None else AnsweredVia.CAREGIVER


def _read(by: Caller, whose: PatientQuery, action: AccessAction, *scopes: Scope) -> int:
    patient_id = _patient(by, whose)
    if patient_id is None:
        return by.id
    care.check(by.id, patient_id, *scopes)
    access_log.record(by, patient_id, action)
    return patient_id


def _patient(by: Caller, whose: PatientQuery) -> int | None:
    """Return the id of the patient for whom the caller acts, or None if the caller acts for themselves."""
    return None if whose.patient_id == by.id else whose.patient_id
