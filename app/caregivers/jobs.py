"""Scheduled jobs that delete expired invitations and handover codes."""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa

from app.caregivers.models import Invitation
from app.core.database.session import db, unit_of_work
from app.identity.dependents import Handover

#: Time for which an expired invitation or handover code is kept, so that the code's page can say that the code expired.
KEPT = timedelta(days=7)


def delete_expired() -> None:
    """Delete invitations and handover codes that expired more than `KEPT` ago."""
    last = sa.func.statement_timestamp() - KEPT
    with unit_of_work():
        for table in (Invitation, Handover):
            db.session.execute(sa.delete(table).where(table.expires_at <= last))
