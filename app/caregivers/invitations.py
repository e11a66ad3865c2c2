"""Invitations: a patient gives somebody a code, and with it what they will be allowed.

The code works once, within seven days, and only while the patient's session that made the invitation lasts.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import TypedDict

import sqlalchemy as sa

from app.caregivers import service
from app.caregivers.models import Invitation
from app.core.database import clock
from app.core.database.session import db, translating
from app.core.errors import AppError, NotFound
from app.core.settings import settings
from app.core.web.pagination import Listing, Page, paginate
from app.identity import care, codes, erasure, sessions, users
from app.identity.care import CaregiverLink
from app.identity.models import User
from app.identity.sessions import Caller

LIFETIME = timedelta(days=7)
#: 31 letters and digits to the tenth: a thousand million million possibilities.
CHARACTERS = 10

NOT_FOUND = "Undangan ini tidak dikenal, sudah dipakai, atau sudah tidak berlaku."
OVER = "Undangan ini sudah tidak berlaku."
CONSTRAINTS: dict[str, AppError] = {"fk_invitations_session_id": sessions.ended()}


class NewInvitation(TypedDict):
    """An invitation with its code, which is known at this moment alone."""

    id: int
    code: str
    link: str | None
    scopes: list[str]
    expires_at: datetime


def create(caller: Caller, scopes: Collection[str]) -> NewInvitation:
    if scopes:
        service.check_may_allow(caller.id)
    code = codes.new_code(CHARACTERS)
    invitation = Invitation(
        patient_id=caller.id,
        session_id=caller.session_id,
        code_hash=_digest(code),
        scopes=care.in_order(scopes),
        expires_at=clock.now() + LIFETIME,
    )
    with translating(CONSTRAINTS):
        db.session.add(invitation)
    return {
        "id": invitation.id,
        "code": code,
        "link": link_of(code),
        "scopes": invitation.scopes,
        "expires_at": invitation.expires_at,
    }


def link_of(code: str) -> str | None:
    """Return the address of a code's page; None without a public address of the service."""
    return f"{settings.public_url}/undangan/{code}" if settings.public_url else None


def list_open(patient_id: int, page: Page) -> Listing[Invitation]:
    """A patient's invitations that nobody has taken yet, newest first."""
    rows = sa.select(Invitation).where(Invitation.patient_id == patient_id, _is_open)
    return paginate(rows.order_by(Invitation.id.desc()), page)


def delete(patient_id: int, invitation_id: int) -> None:
    rows = sa.delete(Invitation).where(Invitation.id == invitation_id, Invitation.patient_id == patient_id)
    if db.session.scalar(rows.returning(Invitation.id)) is None:
        raise NotFound(NOT_FOUND)


def look(code: str) -> Invitation:
    """The open invitation with this code; looking changes nothing, however often it is previewed."""
    invitation = db.session.scalar(sa.select(Invitation).where(Invitation.code_hash == _digest(code), _is_open))
    if invitation is None:
        raise NotFound(NOT_FOUND)
    return invitation


def is_over(code: str) -> bool:
    """Return whether an invitation with this code has expired."""
    return bool(db.session.scalar(sa.select(sa.exists().where(Invitation.code_hash == _digest(code), _has_expired))))


def redeem(caregiver_id: int, code: str) -> tuple[CaregiverLink, bool]:
    """Take an invitation, which one caregiver alone gets: the link with all that it allows, and whether it is new."""
    invitation = look(code)
    users.lock(invitation.patient_id)  # before rows of theirs, as by whoever deletes them
    taken = sa.delete(Invitation).where(Invitation.id == invitation.id, _is_open).returning(Invitation.scopes)
    scopes = db.session.scalar(taken)
    if scopes is None:
        raise NotFound(NOT_FOUND)
    return service.create(caregiver_id, invitation.patient_id, scopes)


_has_expired = Invitation.expires_at <= sa.func.statement_timestamp()
#: While the patient is leaving nobody takes it, nor after the session has expired that made it.
_is_open = sa.and_(
    ~_has_expired,
    sessions.has_live_session(Invitation),
    sa.exists().where(User.id == Invitation.patient_id, erasure.IS_PRESENT),
)


def _digest(code: str) -> str:
    return codes.digest("invitation", codes.normalise(code))
