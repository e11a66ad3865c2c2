"""Invitations: codes with which a patient lets a person become their caregiver.

A patient chooses the caregiver's scopes (rights) with the invitation. The code is valid until a caregiver uses it, for
at most seven days. The code ends earlier if the patient's login session ends.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

import sqlalchemy as sa

from app.caregivers import service
from app.caregivers.models import Invitation
from app.core.database import db_time
from app.core.database.session import db, map_constraint_errors
from app.core.errors import AppError, NotFound
from app.core.settings import settings
from app.core.web.pagination import Listing, Page, paginate
from app.identity import care, codes, erasure, sessions, users
from app.identity.care import CaregiverLink
from app.identity.models import User
from app.identity.sessions import Caller

LIFETIME = timedelta(days=7)
#: Length of a code. The alphabet has 31 characters, so there are about 8 x 10^14 codes.
CHARACTERS = 10

NOT_FOUND = "Undangan ini tidak dikenal, sudah dipakai, atau sudah tidak berlaku."
CONSTRAINTS: dict[str, AppError] = {"fk_invitations_session_id": sessions.ended()}


def create(caller: Caller, scopes: Collection[str]) -> dict[str, object]:
    """Create an invitation. Return it with its code, which is not stored."""
    code = codes.new_code(CHARACTERS)
    invitation = Invitation(
        patient_id=caller.id,
        session_id=caller.session_id,
        code_hash=_digest(code),
        scopes=care.in_order(scopes),
        expires_at=db_time.now() + LIFETIME,
    )
    with map_constraint_errors(CONSTRAINTS):
        db.session.add(invitation)
    return {
        "id": invitation.id,
        "code": code,
        "link": f"{settings.frontend_url}/undangan?code={code}",
        "scopes": invitation.scopes,
        "expires_at": invitation.expires_at,
    }


def list_open(patient_id: int, page: Page) -> Listing[Invitation]:
    """Return a patient's open invitations, newest first."""
    rows = sa.select(Invitation).where(Invitation.patient_id == patient_id, _is_open)
    return paginate(rows.order_by(Invitation.id.desc()), page)


def delete(patient_id: int, invitation_id: int) -> None:
    rows = sa.delete(Invitation).where(Invitation.id == invitation_id, Invitation.patient_id == patient_id)
    if db.session.scalar(rows.returning(Invitation.id)) is None:
        raise NotFound(NOT_FOUND)


def redeem(caregiver_id: int, code: str) -> tuple[CaregiverLink, bool]:
    """Accept an invitation. Only one caregiver can accept the same invitation.

    Return the caregiver link, and whether the caregiver link is new.
    """
    invitation = db.session.scalar(sa.select(Invitation).where(Invitation.code_hash == _digest(code)))
    if invitation is None:
        raise NotFound(NOT_FOUND)
    # Lock the patient before the patient's rows in other tables, because an erasure takes its locks in the same order.
    users.lock(invitation.patient_id)
    taken = sa.delete(Invitation).where(Invitation.id == invitation.id, _is_open).returning(Invitation.scopes)
    scopes = db.session.scalar(taken)
    if scopes is None:
        raise NotFound(NOT_FOUND)
    return service.create(caregiver_id, invitation.patient_id, scopes)


#: An invitation is open until it expires, the patient's login session ends, or the patient asks for erasure.
_is_open = sa.and_(
    Invitation.expires_at > sa.func.statement_timestamp(),
    sessions.has_live_session(Invitation),
    sa.exists().where(User.id == Invitation.patient_id, erasure.IS_PRESENT),
)


def _digest(code: str) -> str:
    return codes.digest("invitation", codes.normalise(code))
