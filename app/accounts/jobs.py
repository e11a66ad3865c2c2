"""Scheduled jobs of accounts."""

from __future__ import annotations

import sqlalchemy as sa

from app.accounts import moves
from app.core.database.session import db, unit_of_work
from app.identity.models import PhoneVerification


def delete_expired() -> None:
    """Delete expired phone verifications and old moves, because these may contain other people's phone numbers."""
    with unit_of_work():
        moves.delete_old()
        db.session.execute(
            sa.delete(PhoneVerification).where(PhoneVerification.expires_at <= sa.func.statement_timestamp())
        )
