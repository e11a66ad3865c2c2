"""Dependents: people without a phone. A caregiver manages the account of a dependent.

`app.personal_data` deletes the accounts of dependents, like all other accounts.
"""

from __future__ import annotations

import secrets

from app.core.database.session import db
from app.core.errors import Forbidden
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, Page, paginate
from app.identity import dependents, users
from app.identity.care import CaregiverLink, Scope
from app.identity.models import RoleName, User
from app.identity.sessions import Caller


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
