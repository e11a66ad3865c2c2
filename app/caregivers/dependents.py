"""The accounts that a caregiver keeps for people without a phone, and their handover by a code.

`app.personal_data` deletes them, as it deletes everybody.
"""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import TypedDict

from app.caregivers import invitations
from app.core.database.session import db
from app.core.errors import Forbidden, NotFound
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, Page, paginate
from app.identity import dependents, users
from app.identity.care import CaregiverLink, Scope
from app.identity.dependents import NO_HANDOVER
from app.identity.models import RoleName, User
from app.identity.sessions import Caller


class NewHandover(TypedDict):
    """A handover with its code, which is known at this moment alone."""

    code: str
    link: str | None
    expires_at: datetime


def create(caller: Caller, data: Loaded) -> User:
    """Create the account of somebody without a phone. The caller is locked, so a sixth at the same time is refused."""
    caregiver = users.get_own(caller, to_change=True)
    if RoleName.PENDAMPING not in caregiver.role_names:
        raise Forbidden
    dependents.check_room(caregiver.id)
    # Nobody can choose a username with a hyphen, and nobody logs in with this one.
    username = f"tanpa-hp-{secrets.token_hex(8)}"
    user = users.create({**data, "username": username}, [RoleName.PASIEN], guardian_id=caregiver.id)
    db.session.add(
        CaregiverLink(caregiver_id=caregiver.id, patient_id=user.id, scopes=[scope.value for scope in Scope])
    )
    db.session.flush()
    return user


def list_own(caregiver_id: int, page: Page) -> Listing[User]:
    """A caregiver's dependents, the oldest first."""
    return paginate(dependents.of_caregiver(caregiver_id).order_by(User.id), page)


def create_handover(caller: Caller, dependent_id: int) -> NewHandover:
    """Return a code by which the dependent takes over the account. An older code ends."""
    code, expires_at = dependents.create_handover(caller, dependent_id)
    return {"code": code, "link": invitations.link_of(code), "expires_at": expires_at}


def delete_handover(caregiver_id: int, dependent_id: int) -> None:
    """End the open code of a dependent. `NotFound` if there is none."""
    dependents.lock_own(caregiver_id, dependent_id)
    if not dependents.end_handover(dependent_id):
        raise NotFound(NO_HANDOVER)
