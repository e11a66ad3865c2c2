"""What accounts do by themselves."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.identity.models import PhoneVerification


def forget_expired() -> None:
    """Delete the proofs of numbers that nobody finished: some of them are numbers of others."""
    with unit_of_work():
        db.session.execute(
            sa.delete(PhoneVerification).where(PhoneVerification.expires_at <= sa.func.statement_timestamp())
        )
