"""What links and invitations do by themselves."""

from __future__ import annotations

import sqlalchemy as sa

from app.caregivers.invitations import KEPT
from app.caregivers.models import Invitation
from app.core.database.session import db, unit_of_work


def forget_expired() -> None:
    """Delete the invitations that nobody took, once their pages need not say any more that they are over."""
    last = sa.func.statement_timestamp() - KEPT
    with unit_of_work():
        db.session.execute(sa.delete(Invitation).where(Invitation.expires_at <= last))
