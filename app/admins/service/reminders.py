"""Today's numbers of reminders and people."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib import local_time
from app.core.lib.local_time import midnight, today
from app.identity.models import RoleName, User
from app.identity.users import has_role
from app.notifications.models import OPEN, deliveries
from app.pengingat.ledger import bells
from app.pengingat.models import OccurrenceState, occurrences


def get_today() -> dict[str, object]:
    """Return the numbers of today (Jakarta): due reminders, patients, and unverified people."""
    counts = db.session.execute(_counts(midnight(today()), local_time.now())).one()
    people = sa.select(
        sa.func.count().filter(has_role(RoleName.PASIEN)).label("patients"),
        sa.func.count().filter(~User.is_verified).label("unverified"),
    )
    return {"date": today(), **counts._asdict(), **db.session.execute(people).one()._asdict()}


def _counts(since: datetime, now: datetime) -> sa.Select[int, int, int, int]:
    rows, of = occurrences.c, deliveries.c
    each = (
        sa.select(
            rows.state,
            sa.func.bool_or(bells.is_accepted()).label("sent"),
            sa.func.bool_or(of.state.in_(OPEN)).label("waiting"),
            sa.func.bool_or(bells.is_failed(sa.literal(now))).label("failed"),
        )
        .outerjoin(deliveries, bells.rang_for())
        .where(rows.due_at.between(since, now), rows.state != OccurrenceState.VOID)
        .group_by(rows.id, rows.state)
        .subquery("each")
    )

    def count(which: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
        return sa.func.count().filter(which)

    return sa.select(
        count(each.c.sent).label("sent"),
        count(sa.and_(~each.c.sent, each.c.waiting)).label("waiting"),
        count(sa.and_(~each.c.sent, ~each.c.waiting, each.c.failed)).label("failed"),
        count(each.c.state == OccurrenceState.DONE).label("done"),
    )
