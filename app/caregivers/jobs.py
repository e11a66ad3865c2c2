"""What links and invitations do by themselves."""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa

from app.caregivers.models import Invitation
from app.core.database.session import db, unit_of_work

#: Time for which an expired invitation is kept. Its page says that the invitation is over.
KEPT = timedelta(days=7)


def forget_expired() -> None:
    """Delete expired invitations after the time for which their pages are kept."""
    last = sa.func.statement_timestamp() - KEPT
    with unit_of_work():
        db.session.execute(sa.delete(Invitation).where(Invitation.expires_at <= last))
