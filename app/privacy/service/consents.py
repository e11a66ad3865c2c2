"""A person's consents, and what a change of a consent does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from app.caregivers import service as caregivers
from app.identity import consents, dependents, notification_settings, users
from app.identity.access_log import AccessAction
from app.identity.consents import ConsentSource, Purpose
from app.identity.models import User
from app.identity.sessions import Caller
from app.pengingat import withdrawal


@dataclass(frozen=True)
class Consent:
    purpose: Purpose
    granted: bool
    version: str | None
    at: datetime | None
    way: str | None


def list_own(caller: Caller, patient_id: int | None) -> list[Consent]:
    """Return the consents of the caller or of their dependent, one per purpose.

    If a person was never asked about a purpose, the consent counts as granted. The fields `version`, `at` and `way`
    are then None.
    """
    return _list(_person(caller, patient_id, AccessAction.CONSENTS_READ))


def update(caller: Caller, patient_id: int | None, sent: Mapping[str, bool]) -> list[Consent]:
    """Store changed consents of the caller or of their dependent, and apply the effects."""
    user = _person(caller, patient_id, AccessAction.CONSENTS_CHANGED)
    changed = notification_settings.record_consents(user, sent, way=ConsentSource.APP)
    if Purpose.HEALTH_DATA in changed:
        if not sent["health_data"]:
            caregivers.leave(user.id)
        (withdrawal.resume if sent["health_data"] else withdrawal.stop)(user.id)
    return _list(user)


def _person(caller: Caller, patient_id: int | None, action: AccessAction) -> User:
    """Lock and return the caller, or their dependent."""
    user_id = dependents.patient_id_of(caller, patient_id, action)
    if user_id == caller.id:
        return users.get_own(caller, to_change=action is AccessAction.CONSENTS_CHANGED)
    return dependents.lock_own(caller.id, user_id)


def _list(user: User) -> list[Consent]:
    said = consents.current(user.id)
    return [_consent(purpose, said.get(purpose), user) for purpose in Purpose]


def _consent(purpose: Purpose, said: consents.Consent | None, user: User) -> Consent:
    granted = user.accepts_broadcasts if purpose is Purpose.BROADCASTS else said is None or said.granted
    if said is None:
        return Consent(purpose, granted, None, None, None)
    return Consent(purpose, granted, said.version, said.created_at, said.way)
