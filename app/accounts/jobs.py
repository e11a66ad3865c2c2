"""Scheduled jobs of accounts."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.identity.models import PhoneVerification


def delete_expired() -> None:
    """Delete expired phone verifications, because these may contain other people's phone numbers."""
    with unit_of_work():
        db.session.execute(
            sa.delete(PhoneVerification).where(PhoneVerification.expires_at <= sa.func.statement_timestamp())
        )
