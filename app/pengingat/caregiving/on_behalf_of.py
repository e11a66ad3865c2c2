"""Whose reminders a call is about: the caller's own, or those of a patient who lets them manage these.

A patient is told of each such call in their access log. A stranger's reminders are no record, and so is a stranger.
"""

from __future__ import annotations

from app.core.errors import NotFound
from app.identity import access_log, care, users
from app.identity.access_log import Action
from app.identity.care import Scope
from app.identity.sessions import Caller
from app.pengingat.models import AnsweredVia
from app.pengingat.schemas import Whose


def to_read(by: Caller, whose: Whose, action: Action = Action.REMINDERS_READ) -> int:
    """The id of the person whose reminders, or whose history, are read.

    Of a patient both take `Scope.MANAGE`: `NotFound` without it.
    """
    patient_id = _patient(by, whose)
    if patient_id is None:
        return by.id
    care.check(by.id, patient_id, Scope.MANAGE)
    access_log.note(by, patient_id, action)
    return patient_id


def to_change(by: Caller, whose: Whose) -> int:
    """As `to_read`, for a change: nobody cuts the link, or takes the scope back, before it is made."""
    patient_id = _patient(by, whose)
    if patient_id is None:
        return by.id
    if users.lock(patient_id) is None:  # before rows of theirs, as by whoever deletes them
        raise NotFound(care.NOT_FOUND)
    care.check_locked(by.id, patient_id, Scope.MANAGE)
    access_log.note(by, patient_id, Action.REMINDERS_CHANGED)
    return patient_id


def via(by: Caller, whose: Whose) -> AnsweredVia:
    """Who answered, as the ledger says it."""
    return AnsweredVia.APP if _patient(by, whose) is None else AnsweredVia.CAREGIVER


def history_of_patient(by: Caller, patient_id: int) -> int:
    """The id of a patient who lets the caller read their history (`Scope.HISTORY`), which is noted."""
    care.check(by.id, patient_id, Scope.HISTORY)
    access_log.note(by, patient_id, Action.HISTORY_READ)
    return patient_id


def _patient(by: Caller, whose: Whose) -> int | None:
    """The patient in whose place the caller acts; None: it is about themselves."""
    return None if whose.patient_id == by.id else whose.patient_id
