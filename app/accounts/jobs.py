"""What accounts do by themselves."""

from __future__ import annotations

import sqlalchemy as sa

from app.accounts import moves
from app.core.database.session import db, unit_of_work
from app.identity.models import PhoneVerification


def forget_expired() -> None:
    """Delete the proofs of numbers that nobody finished, and old moves: some of them are numbers of others."""
    with unit_of_work():
        moves.forget_old()
        db.session.execute(
            sa.delete(PhoneVerification).where(PhoneVerification.expires_at <= sa.func.statement_timestamp())
        )
