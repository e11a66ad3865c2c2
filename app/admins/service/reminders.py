"""Statistics about the reminders of all patients, and about people who missed doses on several days."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib import local_time
from app.core.lib.local_time import midnight, today
from app.identity import consents, dependents, erasure
from app.identity.consents import Purpose
from app.identity.models import Role, RoleName, User, user_roles
from app.notifications.models import DeliveryState, Receipt, deliveries
from app.pengingat.models import OccurrenceState, occurrences
from app.pengingat.timetable.tipe import Tipe

#: A number of days before today. `get_today` counts the people who missed a dose on each of these days.
DAYS_IN_A_ROW = 3


def get_today() -> dict[str, object]:
    """Return the numbers of today (Jakarta): due reminders, patients, and people who missed doses on several days."""
    day = today()
    counts = db.session.execute(_counts(midnight(day), local_time.now())).one()
    people = db.session.execute(_people(missed_every_day(DAYS_IN_A_ROW))).one()
    return {"date": day, **counts._asdict(), "missed_days": DAYS_IN_A_ROW, **people._asdict()}


def missed_every_day(days: int) -> sa.ColumnElement[bool]:
    """Return an SQL condition that is true for a user who missed a dose on each of the last `days` full days.

    Doses whose reminder was not sent on any channel do not count. People who withdrew consent or asked for erasure are
    ignored.
    """
    last = today() - timedelta(days=1)
    return sa.and_(
        User.id.in_(_missing(last - timedelta(days=days - 1), last, days)),
        erasure.IS_PRESENT,
        ~consents.is_withdrawn(User.id, Purpose.HEALTH_DATA),
    )


def _missing(first: date, last: date, days: int) -> sa.Select[int]:
    rows = occurrences.c
    # The index contains `due_at`, but not `day`. A `day` is a date in the time zone of the reminder. The range of
    # `due_at` is a day longer at both ends, so that it includes the days in every time zone.
    bounds = midnight(first) - timedelta(days=1), midnight(last) + timedelta(days=2)
    return (
        sa.select(rows.user_id)
        .where(
            rows.due_at.between(*bounds),
            rows.day.between(first, last),
            rows.tipe == Tipe.OBAT,
            rows.state == OccurrenceState.MISSED,
            ~rows.undelivered,
        )
        .group_by(rows.user_id)
        .having(sa.func.count(rows.day.distinct()) == days)
    )


def _people(is_missing: sa.ColumnElement[bool]) -> sa.Select[int, int, int]:
    is_patient = sa.and_(user_roles.c.role_id == Role.id, Role.name == RoleName.PASIEN)
    patients = sa.select(sa.func.count()).select_from(user_roles).join(Role, is_patient)
    patients = patients.where(user_roles.c.user_id.not_in(dependents.DELETED_IDS))
    people = sa.select(sa.func.count()).select_from(User).where(User.id.not_in(dependents.DELETED_IDS))
    return sa.select(
        people.where(is_missing).scalar_subquery().label("missed_people"),
        patients.scalar_subquery().label("patients"),
        people.where(~User.is_verified).scalar_subquery().label("unverified"),
    )


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
