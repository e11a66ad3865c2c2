"""Rows of the ledger, the table `occurrences`. An occurrence is one due time of a reminder.

Answers, edits and planning lock the reminder first, and then the rows that they change. The job that marks missed
occurrences locks only rows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.dialects.postgresql import ARRAY, insert

from app.core.database.session import db
from app.pengingat.models import Occurrence, OccurrenceState, occurrences
from app.pengingat.timetable.schedule import AHEAD, NEVER

#: Time after an answer during which the person may change the answer.
CHANGEABLE = timedelta(hours=24)
MAX_SNOOZES = 3
#: Time after which rows are deleted.
KEPT = timedelta(days=400)

ANSWERED = (OccurrenceState.DONE, OccurrenceState.SKIPPED)

_rows = occurrences.c
_later = orm.aliased(Occurrence)
#: SQL value: the next due time of the row's reminder in the ledger.
NEXT_AT = (
    sa.select(sa.func.min(_later.due_at))
    .where(
        _later.reminder_id == Occurrence.reminder_id,
        _later.due_at > Occurrence.due_at,
        _later.state != OccurrenceState.VOID,
    )
    .correlate(Occurrence)
    .scalar_subquery()
)
#: Option of a query that fills `Occurrence.next_at`.
WITH_NEXT = orm.with_expression(Occurrence.next_at, NEXT_AT)


@dataclass(frozen=True)
class NewOccurrence:
    reminder_id: int
    user_id: int
    tipe: str
    judul: str
    slot: str
    due_at: datetime
    day: date
    timezone: str


def record(entries: Sequence[NewOccurrence]) -> list[Occurrence]:
    """Insert occurrences, and return their rows. If a row exists, update its title, type, day and zone.

    A cancelled row (`void`) becomes pending again, without its snoozes. Other rows keep their state.
    """
    if not entries:
        return []
    statement = insert(Occurrence)
    new, is_void = statement.excluded, _rows.state == OccurrenceState.VOID
    upsert = statement.on_conflict_do_update(
        index_elements=[_rows.reminder_id, _rows.due_at, _rows.slot],
        set_={
            **{name: new[name] for name in ("tipe", "judul", "day", "timezone")},
            "state": sa.case((is_void, OccurrenceState.PENDING), else_=_rows.state),
            "snoozed_until": sa.case((is_void, None), else_=_rows.snoozed_until),
            "snoozes": sa.case((is_void, 0), else_=_rows.snoozes),
        },
    ).returning(Occurrence)
    values = [vars(entry) for entry in entries]
    return list(db.session.scalars(upsert, values, execution_options={"populate_existing": True}))


def rename(reminder_id: int, title: str, now: datetime) -> None:
    """Set the title of occurrences that fall due after `now`."""
    _update({"judul": title}, _rows.reminder_id == reminder_id, _rows.due_at > now)


def void(*which: sa.ColumnElement[bool]) -> None:
    """Cancel these occurrences if they are pending: set their state to `void`."""
    _update({"state": OccurrenceState.VOID}, _rows.state == OccurrenceState.PENDING, *which)


def _update(values: dict[str, object], *which: sa.ColumnElement[bool]) -> None:
    statement = sa.update(occurrences).where(*which).values(**values)
    db.session.execute(statement, execution_options={"synchronize_session": False})


# --- locks ----------------------------------------------------------------------------------------------------------


def _locking(*which: sa.ColumnElement[bool]) -> sa.Select[Occurrence]:
    rows = sa.select(Occurrence).where(*which).order_by(Occurrence.due_at, Occurrence.slot).options(WITH_NEXT)
    return rows.with_for_update(of=Occurrence, key_share=True).execution_options(populate_existing=True)


_now, _soon, _since, _until = (
    sa.bindparam(name, type_=sa.DateTime(timezone=True)) for name in ("now", "soon", "since", "until")
)
_slot = sa.bindparam("slot", type_=sa.Text)
_near = occurrences.alias("near")


def _is_of(of: sa.FromClause) -> tuple[sa.ColumnElement[bool], ...]:
    """Return the conditions of the rows of one reminder. With a `slot`, these are only the rows of this slot."""
    return (
        of.c.reminder_id == sa.bindparam("reminder", type_=sa.BigInteger),
        sa.or_(_slot.is_(None), of.c.slot == _slot),
    )


def _nearest(moment: sa.ColumnElement[datetime], *which: sa.ColumnElement[bool]) -> sa.ScalarSelect[datetime]:
    is_void = _near.c.state == OccurrenceState.VOID
    return sa.select(moment).where(*_is_of(_near), ~is_void, *which).scalar_subquery()


_last_at = _nearest(sa.func.max(_near.c.due_at), _near.c.due_at <= _now)
_next_at = _nearest(sa.func.min(_near.c.due_at), _near.c.due_at > _now, _near.c.due_at <= _soon)
_present = _locking(*_is_of(occurrences), _rows.state != OccurrenceState.VOID, _rows.due_at.in_([_last_at, _next_at]))
_at = _locking(*_is_of(occurrences), _rows.due_at >= _since, _rows.due_at < _until)
_of_ids = _locking(_rows.id == sa.any_(sa.bindparam("ids", type_=ARRAY(sa.BigInteger))), _rows.reminder_id.is_not(None))
_came_at = sa.func.coalesce(_rows.recorded_at, _rows.answered_at)
_answered = (
    _locking(*_is_of(occurrences), _rows.state.in_(ANSWERED), _came_at > _now, _rows.due_at >= _since)
    .where(_rows.due_at < _until)
    .order_by(None)
    .order_by(_came_at.desc(), _rows.due_at.desc(), _rows.id)
    .limit(1)
)


def lock_ids(ids: Collection[int]) -> list[Occurrence]:
    """Lock and return the rows with these ids, except those of deleted reminders."""
    return list(db.session.scalars(_of_ids, {"ids": list(ids)}))


def lock_at(reminder_id: int, second: datetime, slot: str | None) -> list[Occurrence]:
    """Lock and return the rows that are due in this second."""
    values = {"reminder": reminder_id, "slot": slot, "since": second, "until": second + timedelta(seconds=1)}
    return list(db.session.scalars(_at, values))


def lock_present(
    reminder_id: int, now: datetime, slot: str | None = None, *, ahead: timedelta = AHEAD
) -> tuple[list[Occurrence], list[Occurrence]]:
    """Lock and return the rows of the last due time, and those of the next due time, if it is within `ahead`."""
    values = {"reminder": reminder_id, "slot": slot, "now": now, "soon": now + ahead}
    found = list(db.session.scalars(_present, values))
    return [row for row in found if row.due_at <= now], [row for row in found if row.due_at > now]


def lock_last_answered(reminder_id: int, now: datetime, second: datetime | None, slot: str | None) -> list[Occurrence]:
    """Lock and return the row of the answer that came last. Return nothing if none can be taken back any more.

    If `second` is set, search only rows due in this second.
    """
    since, until = (second, second + timedelta(seconds=1)) if second else (now - KEPT, NEVER)
    values = {"reminder": reminder_id, "slot": slot, "now": now - CHANGEABLE, "since": since, "until": until}
    return list(db.session.scalars(_answered, values))


def lock_since(reminder_id: int, since: datetime) -> list[Occurrence]:
    """Lock and return the rows that fall due after `since`."""
    return list(db.session.scalars(_locking(_rows.reminder_id == reminder_id, _rows.due_at > since)))


# --- rules ----------------------------------------------------------------------------------------------------------


def is_too_late(row: Occurrence, at: datetime) -> bool:
    """Return whether a missed row cannot be answered any more, because the reminder's next time has fallen due."""
    is_closed = row.reminder_id is None or (row.next_at is not None and row.next_at <= at)
    return row.state == OccurrenceState.MISSED and is_closed


def may_become(row: Occurrence, state: OccurrenceState, at: datetime, *, is_offline: bool = False) -> bool:
    """Return whether an answer at the time `at` may change the row to this state.

    The query must have filled `next_at`. Only an offline answer can make a missed row skipped. Done and skipped can
    replace each other for 24 hours.
    """
    match row.state:
        case OccurrenceState.PENDING:
            return True
        case OccurrenceState.MISSED:
            return (state == OccurrenceState.DONE or is_offline) and not is_too_late(row, at)
        case OccurrenceState.DONE | OccurrenceState.SKIPPED:
            return row.state != state and may_be_undone(row, at)
    return False


def may_be_undone(row: Occurrence, now: datetime) -> bool:
    """Return whether the row has an answer that reached the service in the last 24 hours."""
    came_at = row.recorded_at or row.answered_at
    return row.state in ANSWERED and came_at is not None and came_at > now - CHANGEABLE
