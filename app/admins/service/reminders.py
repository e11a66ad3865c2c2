"""Today's numbers of reminders and people."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib import local_time
from app.core.lib.local_time import midnight, today
from app.identity.models import RoleName, User
from app.identity.users import has_role
from app.notifications.models import DeliveryState, Receipt, deliveries
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
    rows, sent = occurrences.c, deliveries.c.state == DeliveryState.SENT
    each = (
        sa.select(
            rows.state,
            sa.func.bool_or(sa.and_(sent, deliveries.c.receipt.is_distinct_from(Receipt.FAILED))).label("sent"),
            sa.func.bool_or(deliveries.c.state.in_((DeliveryState.PENDING, DeliveryState.CLAIMED))).label("waiting"),
            sa.func.bool_or(sa.or_(sent, deliveries.c.state.in_((DeliveryState.FAILED, DeliveryState.MISSED)))).label(
                "failed"
            ),
        )
        .outerjoin(deliveries, deliveries.c.occurrence_id == rows.id)
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
