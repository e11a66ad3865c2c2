"""SQL statements of the ledger, the table `occurrences`. An occurrence is one due time of a reminder.

Answers, edits and planning lock the reminder first, so that only one of them changes the reminder at a time. The job
that marks missed occurrences locks no reminder. So an answer writes a row only if the state of the row has not changed
since the row was read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, insert

from app.core.database import db_time
from app.core.database.session import AnySelect, db
from app.notifications import outbox
from app.pengingat.models import (
    Occurrence,
    OccurrenceState,
    Pengingat,
    is_late,
    occurrences,
    reminders,
)
from app.pengingat.timetable.schedule import AHEAD

#: Time after an answer during which the person may change the answer.
CHANGEABLE = timedelta(hours=24)
MAX_SNOOZES = 3

#: Number of occurrences to read per reminder, newest first. The current occurrence is among them.
LATEST = 10

_rows = occurrences.c
_reminders = reminders.c


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
    link_hash: str | None = None


def record(entries: Sequence[NewOccurrence]) -> list[Occurrence]:
    """Insert occurrences, and return their rows. If a row exists, update its title, type, day, zone and link.

    A cancelled row (`void`) becomes pending again. Other rows keep their state.
    """
    if not entries:
        return []
    statement = insert(Occurrence)
    new, is_void = statement.excluded, _rows.state == OccurrenceState.VOID
    upsert = statement.on_conflict_do_update(
        index_elements=[_rows.reminder_id, _rows.due_at, _rows.slot],
        set_={
            **{name: new[name] for name in ("tipe", "judul", "day", "timezone", "link_hash")},
            "state": sa.case((is_void, OccurrenceState.PENDING), else_=_rows.state),
            "snoozed_until": sa.case((is_void, None), else_=_rows.snoozed_until),
            "snoozes": sa.case((is_void, 0), else_=_rows.snoozes),
        },
    ).returning(Occurrence)
    values = [vars(entry) for entry in entries]
    return list(db.session.scalars(upsert, values, execution_options={"populate_existing": True}))


def coming(reminder_id: int, now: datetime) -> sa.Select[int]:
    """Return a query of the ids of occurrences that fall due after `now`."""
    return sa.select(_rows.id).where(_rows.reminder_id == reminder_id, _rows.due_at > now)


def rename(reminder_id: int, title: str, now: datetime) -> None:
    """Set the title of occurrences that fall due after `now`."""
    _update({"judul": title}, _rows.reminder_id == reminder_id, _rows.due_at > now)


def void(reminder_id: int, *which: sa.ColumnElement[bool]) -> None:
    """Cancel the pending occurrences of a reminder: set their state to `void`."""
    _update(
        {"state": OccurrenceState.VOID},
        _rows.reminder_id == reminder_id,
        _rows.state == OccurrenceState.PENDING,
        *which,
    )


def void_coming(reminder_id: int, now: datetime) -> None:
    """Cancel the pending occurrences of a reminder that fall due after `now`. Earlier ones can still be answered."""
    void(reminder_id, _rows.due_at > now)


def list_since(reminder_id: int, since: datetime) -> Sequence[Occurrence]:
    """Return the occurrences that fall due after `since`, cancelled ones last."""
    rows = sa.select(Occurrence).where(_rows.reminder_id == reminder_id, _rows.due_at > since)
    rows = rows.order_by(_rows.state == OccurrenceState.VOID, _rows.due_at, _rows.slot)
    return db.session.scalars(rows.execution_options(populate_existing=True)).all()


def void_all(user_id: int) -> None:
    """Cancel the pending occurrences of all reminders of a person: set their state to `void`."""
    _update({"state": OccurrenceState.VOID}, _rows.user_id == user_id, _rows.state == OccurrenceState.PENDING)


class Row(NamedTuple):
    """Columns of an occurrence that an answer reads, changes or returns.

    Answers do not use the class `Occurrence`, because SQLAlchemy would take several times as long to create an object.
    """

    id: int
    reminder_id: int | None
    user_id: int
    tipe: str
    judul: str
    slot: str
    due_at: datetime
    state: str
    answered_at: datetime | None
    answered_via: str | None
    recorded_at: datetime | None
    undone_at: datetime | None
    snoozed_until: datetime | None
    snoozes: int
    stock_deducted: float | None
    undelivered: bool

    @property
    def late(self) -> bool:
        return is_late(self)


_moment = sa.DateTime(timezone=True)
_of, _ids = (sa.bindparam(name, type_=ARRAY(sa.BigInteger)) for name in ("reminders", "ids"))
_soon = sa.bindparam("soon", type_=_moment)
_slot = sa.bindparam("slot", type_=sa.Text)


#: Columns to select for a `Row`, in the order of its fields.
COLUMNS = [_rows[name] for name in Row._fields]


def _last(*which: sa.ColumnElement[bool]) -> sa.Select[*tuple[Any, ...]]:
    """Return a query of the last ten rows of each reminder, among the rows due up to 60 minutes from now."""
    reminder = sa.func.unnest(_of).table_valued("id").render_derived()
    last = (
        sa.select(*COLUMNS)
        .where(_rows.reminder_id == reminder.c.id, _rows.due_at <= _soon, _rows.state != OccurrenceState.VOID, *which)
        .order_by(_rows.due_at.desc(), _rows.slot.desc())
        .limit(LATEST)
        .lateral()
    )
    return sa.select(*last.c).select_from(reminder).join(last, sa.true())


_is_named = (_rows.due_at >= sa.bindparam("since", type_=_moment), _rows.due_at < sa.bindparam("until", type_=_moment))


@cache
def _near(*, ids: bool, second: bool, slot: bool) -> sa.CompoundSelect[*tuple[Any, ...]]:
    is_of_these = _rows.reminder_id == sa.any_(_of)
    parts = [_last(), sa.select(*COLUMNS).where(is_of_these, _rows.due_at > _soon)]
    if ids:
        parts.append(sa.select(*COLUMNS).where(_rows.id == sa.any_(_ids), is_of_these))
    if second:
        parts.append(sa.select(*COLUMNS).where(is_of_these, *_is_named))
    if slot:
        parts.append(_last(_rows.slot == _slot))
    return sa.union(*parts).order_by(*(sa.desc(name) for name in ("due_at", "slot", "id")))


def near(
    reminder_ids: Collection[int],
    now: datetime,
    *,
    ids: Collection[int] = (),
    second: datetime | None = None,
    until: datetime | None = None,
    slot: str | None = None,
) -> list[Row]:
    """Return the ledger rows that an answer to these reminders reads or changes, newest first.

    The result contains, for each reminder:

    - the last ten rows that are due up to 60 minutes from now, and all later rows,
    - if `ids` is set, the rows with these ids,
    - if `slot` is set, the last ten rows of this slot (for example one of the daily doses),
    - if `second` is set, the rows due in this second, and the later rows due before `until`.
    """
    end_of_second = second and second + timedelta(seconds=1)
    values = {
        "reminders": list(reminder_ids),
        "ids": list(ids),
        "soon": now + AHEAD,
        "since": second,
        "until": max(filter(None, (end_of_second, until)), default=None),
        "slot": slot,
    }
    statement = _near(ids=bool(ids), second=second is not None, slot=slot is not None)
    return [Row(*row) for row in db.session.execute(statement, values).all()]


def may_become(
    row: Row | Occurrence, state: OccurrenceState, rows: Sequence[Row], at: datetime, *, is_offline: bool = False
) -> bool:
    """Return whether an answer at the time `at` may change `row` to this state.

    `rows` must contain the later rows of the same reminder. A missed row can become done until the reminder's next due
    time. An offline answer can also make a missed row skipped. Done and skipped can replace each other for 24 hours.
    """
    match row.state:
        case OccurrenceState.PENDING:
            return True
        case OccurrenceState.MISSED:
            later = (other for other in rows if other.reminder_id == row.reminder_id and row.due_at < other.due_at)
            is_closed = any(other.due_at <= at and other.state != OccurrenceState.VOID for other in later)
            return (state == OccurrenceState.DONE or is_offline) and not is_closed
        case OccurrenceState.DONE | OccurrenceState.SKIPPED:
            return row.state != state and may_be_undone(row, at)
    return False


def may_be_undone(row: Row | Occurrence, now: datetime) -> bool:
    """Return whether a row has an answer that reached the service in the last 24 hours."""
    came_at = row.recorded_at or row.answered_at
    if row.state not in (OccurrenceState.DONE, OccurrenceState.SKIPPED) or came_at is None:
        return False
    return came_at > now - CHANGEABLE


def last_answered(reminder_id: int, now: datetime, second: datetime | None, slot: str | None) -> Row | None:
    """Return the row of the answer to this reminder that came last. Return None if none can be taken back any more.

    If `second` is set, search only rows due in this second. If `slot` is set, search only rows of this slot.
    """
    which = [_rows.reminder_id == reminder_id, _rows.state.in_((OccurrenceState.DONE, OccurrenceState.SKIPPED))]
    if second:
        which += [_rows.due_at >= second, _rows.due_at < second + timedelta(seconds=1)]
    if slot:
        which.append(_rows.slot == slot)
    came_at = sa.func.coalesce(_rows.recorded_at, _rows.answered_at)
    last = sa.select(*COLUMNS).where(*which, came_at > now - CHANGEABLE)
    found = db.session.execute(last.order_by(came_at.desc(), _rows.due_at.desc(), _rows.id).limit(1)).first()
    return Row(*found) if found else None


#: Columns of a reminder that an answer may change.
_FOLLOWING = ("done_from", "done_until", "details", "stock_told")
#: Columns of an occurrence that an answer may change.
_CHANGED = (
    *("state", "answered_at", "answered_via", "recorded_at", "undone_at"),
    *("snoozed_until", "snoozes", "stock_deducted"),
)


def _changing() -> AnySelect:
    """Return the SQL statement of the function `change`.

    The parameters are the rows and the reminders as JSON, and their ids. With the ids PostgreSQL uses the primary keys.
    Without the ids PostgreSQL expects 100 rows in the JSON, and scans a whole table of up to 10,000 rows.
    """
    columns = [*(sa.column(name, _rows[name].type) for name in ("id", *_CHANGED)), sa.column("was", sa.Text)]
    new = sa.func.jsonb_to_recordset(sa.cast(sa.bindparam("rows", type_=sa.Text), JSONB)).table_valued(
        *columns, name="new"
    )
    new = new.render_derived(with_types=True)
    changed = (
        sa.update(occurrences)
        .where(
            _rows.id == new.c.id,
            _rows.id == sa.any_(sa.bindparam("ids", type_=ARRAY(sa.BigInteger))),
            _rows.state == new.c.was,
        )
        .values({name: new.c[name] for name in _CHANGED})
        .returning(_rows.id)
        .cte("changed")
    )
    cancelled = outbox.cancelling_occurrences(sa.select(changed.c.id)).cte("cancelled")
    reminder = sa.func.jsonb_to_recordset(sa.cast(sa.bindparam("reminders", type_=sa.Text), JSONB)).table_valued(
        *(sa.column(name, _reminders[name].type) for name in ("id", *_FOLLOWING)), name="reminder"
    )
    reminder = reminder.render_derived(with_types=True)
    followed = (
        sa.update(reminders)
        .where(
            _reminders.id == reminder.c.id,
            _reminders.id == sa.any_(sa.bindparam("following", type_=ARRAY(sa.BigInteger))),
        )
        .values({**{name: reminder.c[name] for name in _FOLLOWING}, "updated_at": db_time.now_sql()})
        .cte("followed")
    )
    return sa.select(changed.c.id).add_cte(cancelled, followed)


_change = _changing()


def change(changes: Sequence[tuple[Row, Row]], followers: Iterable[Pengingat]) -> list[Row]:
    """Write the new rows of `changes` and the reminders in `followers`. Return the written rows.

    `changes` has pairs of the old and the new row. A row whose state has changed since it was read is not written. The
    queued messages of the written rows are cancelled.
    """
    rows = [
        {**{name: getattr(after, name) for name in ("id", *_CHANGED)}, "was": before.state} for before, after in changes
    ]
    following = [{name: getattr(each, name) for name in ("id", *_FOLLOWING)} for each in followers]
    values = {
        "rows": orjson.dumps(rows).decode(),
        "ids": [row["id"] for row in rows],
        "reminders": orjson.dumps(following).decode(),
        "following": [reminder["id"] for reminder in following],
    }
    written = {id_ for (id_,) in db.session.execute(_change, values).all()}
    return [after for _, after in changes if after.id in written]


def too_late(occurrence_ids: Collection[int]) -> set[int]:
    """Return the ids from `occurrence_ids` whose occurrences are missed and can no longer be answered."""
    later = occurrences.alias()
    is_next_due = sa.exists().where(
        later.c.reminder_id == _rows.reminder_id,
        later.c.due_at > _rows.due_at,
        later.c.due_at <= db_time.now_sql(),
        later.c.state != OccurrenceState.VOID,
    )
    is_gone = sa.or_(_rows.reminder_id.is_(None), is_next_due)
    rows = sa.select(_rows.id).where(_rows.id.in_(occurrence_ids), _rows.state == OccurrenceState.MISSED, is_gone)
    return set(db.session.scalars(rows))


def _update(values: Mapping[str, object], *which: sa.ColumnElement[bool]) -> None:
    statement = sa.update(occurrences).where(*which).values(**values)
    db.session.execute(statement, execution_options={"synchronize_session": False})
