"""Helper that makes a dose of a person due now, for tests that commit and use the real clock."""

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.pengingat.ledger import bells
from app.pengingat.models import Occurrence


def fall_due(user_id):
    """Make a person's next dose and its deliveries due now."""
    with unit_of_work():
        at = sa.func.date_trunc("minute", sa.func.now())
        pending = sa.select(sa.func.min(Occurrence.id)).filter_by(user_id=user_id, state="pending")
        row = db.session.scalar(
            sa.update(Occurrence)
            .where(Occurrence.id == pending.scalar_subquery())
            .values(due_at=at, day=sa.func.date(sa.func.timezone("Asia/Jakarta", at)))
            .returning(Occurrence.due_at)
        )
        if row is not None:  # a deleted person has no pending dose
            bells.ring([bells.Bell(user_id, bells.BellKind.FIRST, row)], row)
