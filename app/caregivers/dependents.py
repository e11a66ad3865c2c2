"""Dependents: people without a phone. A caregiver manages the account of a dependent.

With a code, the dependent can take over the account. This module deletes no accounts. `app.personal_data` deletes the
accounts of dependents, like all other accounts.
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
    """A handover of an account with its code. The code itself is not stored."""

    code: str
    link: str | None
    expires_at: datetime


def create(caller: Caller, data: Loaded) -> User:
    """Create a dependent of the caller.

    Lock the caller's row, so that concurrent requests cannot exceed the maximum number of dependents.
    """
    caregiver = users.get_own(caller, to_change=True)
    if RoleName.PENDAMPING not in caregiver.role_names:
        raise Forbidden
    dependents.check_max_dependents(caregiver.id)
    # No user has this username already, because users cannot choose a username with a hyphen.
    username = f"tanpa-hp-{secrets.token_hex(8)}"
    user = users.create({**data, "username": username}, [RoleName.PASIEN], guardian_id=caregiver.id)
    db.session.add(
        CaregiverLink(caregiver_id=caregiver.id, patient_id=user.id, scopes=[scope.value for scope in Scope])
    )
    db.session.flush()
    return user


def list_own(caregiver_id: int, page: Page) -> Listing[User]:
    """Return a caregiver's dependents, oldest first."""
    return paginate(dependents.of_caregiver(caregiver_id).order_by(User.id), page)


def create_handover(caller: Caller, dependent_id: int) -> NewHandover:
    """Create a code with which the dependent can take over the account. The new code replaces an older one."""
    code, expires_at = dependents.create_handover(caller, dependent_id)
    return {"code": code, "link": invitations.link_of(code), "expires_at": expires_at}


def delete_handover(caregiver_id: int, dependent_id: int) -> None:
    """Delete the handover code of a dependent. Raise `NotFound` if the dependent has no valid code."""
    dependents.lock_own(caregiver_id, dependent_id)
    if not dependents.end_handover(dependent_id):
        raise NotFound(NO_HANDOVER)
