"""Scheduled job of invitations."""

from __future__ import annotations

import sqlalchemy as sa

from app.caregivers.models import Invitation
from app.core.database.session import db, unit_of_work


def delete_expired() -> None:
    """Delete expired invitations."""
    with unit_of_work():
        db.session.execute(sa.delete(Invitation).where(Invitation.expires_at <= sa.func.statement_timestamp()))
