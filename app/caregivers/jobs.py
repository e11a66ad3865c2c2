"""What links and invitations do by themselves."""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa

from app.caregivers.models import Invitation
from app.core.database.session import db, unit_of_work
from app.identity.dependents import Handover

#: Time for which an expired invitation or handover is kept. Its page says that it is over.
KEPT = timedelta(days=7)


def forget_expired() -> None:
    """Delete expired invitations and handovers after the time for which their pages are kept."""
    last = sa.func.statement_timestamp() - KEPT
    with unit_of_work():
        for table in (Invitation, Handover):
            db.session.execute(sa.delete(table).where(table.expires_at <= last))
