"""The ledger's statements. Of two that meet over an occurrence one conditional UPDATE decides.

Whoever changes occurrences for a person holds the row of their reminder first, so that answers, edits and the clock's
planning come one after the other; only the sweep does not, and leaves rows that others hold.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.prepared import PreparedStatement
from app.core.database.session import autocommit, db
from app.identity import care
from app.identity.care import Scope
from app.notifications.models import Channel, Receipt, deliveries
from app.notifications.models import State as DeliveryState
from app.pengingat.models import LATE, Occurrence, State, occurrence_days, occurrences

#: How long after an answer the person may change it.
CHANGEABLE = timedelta(hours=24)
MOST_SNOOZES = 3

#: The last occurrences of a reminder, among which is the one that a person means.
LATEST = 10

#: Occurrences that one look of the sweep closes.
SWEEP_BATCH = 1000
#: Days that occurrences are kept one by one.
KEEP_DAYS = 400
COMPACT_BATCH = 5000

_rows = occurrences.c


@dataclass(frozen=True)
class Entry:
    """An occurrence to record."""

    reminder_id: int
    user_id: int
    tipe: str
    judul: str
    slot: str
    due_at: datetime
    day: date
    link_hash: str | None = None


def record(entries: Sequence[Entry]) -> list[Occurrence]:
    """Record occurrences, each once, as they are now. One that was void comes back to life; the others keep their
    state."""
    if not entries:
        return []
    statement = insert(Occurrence)
    new, is_void = statement.excluded, _rows.state == State.VOID
    upsert = statement.on_conflict_do_update(
        index_elements=[_rows.reminder_id, _rows.due_at, _rows.slot],
        set_={
            **{name: new[name] for name in ("tipe", "judul", "day", "link_hash")},
            "state": sa.case((is_void, State.PENDING), else_=_rows.state),
            "snoozed_until": sa.case((is_void, None), else_=_rows.snoozed_until),
            "snoozes": sa.case((is_void, 0), else_=_rows.snoozes),
        },
    ).returning(Occurrence)
    values = [vars(entry) for entry in entries]
    return list(db.session.scalars(upsert, values, execution_options={"populate_existing": True}))


def coming(reminder_id: int, now: datetime) -> sa.Select[int]:
    """The ids of what falls due after a moment."""
    return sa.select(_rows.id).where(_rows.reminder_id == reminder_id, _rows.due_at > now)


def done_after(reminder_id: int, moment: datetime) -> set[datetime]:
    """The moments after this one of which all is done already."""
    coming = sa.select(_rows.due_at).where(_rows.reminder_id == reminder_id, _rows.due_at > moment)
    open_or_done = coming.where(_rows.state != State.VOID).group_by(_rows.due_at)
    return set(db.session.scalars(open_or_done.having(sa.func.bool_and(_rows.state == State.DONE))))


def void(reminder_id: int, *which: sa.ColumnElement[bool]) -> None:
    """What nobody has answered yet is not asked any more."""
    _update({"state": State.VOID}, _rows.reminder_id == reminder_id, _rows.state == State.PENDING, *which)


def void_all(user_id: int) -> None:
    """As `void`, of all reminders of a person."""
    _update({"state": State.VOID}, _rows.user_id == user_id, _rows.state == State.PENDING)


def answer(occurrence_id: int, state: State, now: datetime, via: str, note: str | None = None) -> Occurrence | None:
    """Note an answer; None when it comes too late or is there already.

    What was missed can still be done until the next one falls due, and done and skipped may be exchanged for a day.
    """
    is_open = [
        _rows.state == State.PENDING,
        sa.and_(
            _rows.state == {State.DONE: State.SKIPPED, State.SKIPPED: State.DONE}[state],
            _rows.answered_at > now - CHANGEABLE,
        ),
    ]
    if state is State.DONE:
        is_open.append(sa.and_(_rows.state == State.MISSED, ~_is_next_due(now)))
    values: dict[str, object] = {"state": state, "answered_at": now, "answered_via": via}
    if note is not None:
        values["note"] = note
    return next(iter(_update(values, _rows.id == occurrence_id, sa.or_(*is_open))), None)


def too_late(occurrence_ids: Collection[int], now: datetime) -> set[int]:
    """Those of these occurrences that were missed and can be answered no more."""
    is_gone = sa.or_(_rows.reminder_id.is_(None), _is_next_due(now))
    rows = sa.select(_rows.id).where(_rows.id.in_(occurrence_ids), _rows.state == State.MISSED, is_gone)
    return set(db.session.scalars(rows))


def _is_next_due(now: datetime) -> sa.ColumnElement[bool]:
    later = occurrences.alias()
    return sa.exists().where(
        later.c.reminder_id == _rows.reminder_id,
        later.c.due_at > _rows.due_at,
        later.c.due_at <= now,
        later.c.state != State.VOID,
    )


def reopen(reminder_id: int, due_at: datetime) -> Sequence[Occurrence]:
    """What was done at this moment is not done after all; returns it."""
    return _update(
        {"state": State.PENDING, "answered_at": None, "answered_via": None, "snoozed_until": None},
        _rows.reminder_id == reminder_id,
        _rows.due_at == due_at,
        _rows.state == State.DONE,
    )


def snooze(occurrence_id: int, until: datetime) -> Occurrence | None:
    """Ask again at a moment; None for one that is answered, or was put off as often as it may be."""
    snoozed = _update(
        {"snoozed_until": until, "snoozes": _rows.snoozes + 1},
        _rows.id == occurrence_id,
        _rows.state == State.PENDING,
        _rows.snoozes < MOST_SNOOZES,
    )
    return next(iter(snoozed), None)


def _update(values: Mapping[str, object], *which: sa.ColumnElement[bool]) -> Sequence[Occurrence]:
    """Change rows; returns them as they are now."""
    statement = sa.update(Occurrence).where(*which).values(**values).returning(Occurrence)
    options = {"synchronize_session": False, "populate_existing": True}
    return db.session.scalars(statement, execution_options=options).all()


# --- the clock's part -----------------------------------------------------------------------------------------------

_due_before = sa.bindparam("due_before", type_=sa.DateTime(timezone=True))
_now = sa.bindparam("now", type_=sa.DateTime(timezone=True))
_told_of = deliveries.c.occurrence_id == _rows.id
_was_delivered = sa.exists().where(
    _told_of,
    deliveries.c.state == DeliveryState.SENT,
    deliveries.c.receipt.is_distinct_from(Receipt.FAILED),  # the provider could not bring it there after all
    # A push to a person is sent when it has become one to each of their browsers, be that none.
    deliveries.c.channel.in_([Channel.MESSAGING, Channel.PUSH]),
)
#: As when the person had said that it was done, and took that back too late to be told: nothing of ours failed.
_was_withdrawn = (
    sa.select(sa.func.coalesce(sa.func.bool_and(deliveries.c.state == DeliveryState.CANCELLED), sa.false()))
    .where(_told_of)
    .scalar_subquery()
)
_is_being_sent = sa.exists().where(
    _told_of, deliveries.c.state == DeliveryState.CLAIMED, deliveries.c.next_try_at > _now
)
_is_overdue: tuple[sa.ColumnElement[bool], ...] = (
    sa.literal_column("state = 'pending'"),  # as the index of open rows says
    _rows.due_at <= _due_before,
    sa.or_(_rows.snoozed_until.is_(None), _rows.snoozed_until <= _due_before),
)
#: What an idle tick asks, in place of a statement that has more to plan. In the order of the index, or PostgreSQL looks
#: for the first of so many in the table.
_longest_overdue = PreparedStatement(sa.select(_rows.id).where(*_is_overdue).order_by(_rows.due_at).limit(1))
_overdue = (
    sa.select(_rows.id)
    .where(*_is_overdue, ~_is_being_sent)
    .order_by(_rows.due_at)
    .limit(SWEEP_BATCH)
    .with_for_update(skip_locked=True)
)
_miss = (
    sa.update(occurrences)
    .where(_rows.id.in_(_overdue.scalar_subquery()))
    .values(
        state=State.MISSED,
        undelivered=sa.and_(~_was_delivered, ~_was_withdrawn),
        alerts_due=care.is_anybody_allowed(_rows.user_id, Scope.ALERTS),
    )
)


def miss_overdue(now: datetime) -> int:
    """Close what nobody answered in time, a batch of it; returns how many."""
    values = {"due_before": now - LATE, "now": now}
    with autocommit() as connection:
        is_any = _longest_overdue.rows(connection, values)
        return connection.execute(_miss, values).rowcount if is_any else 0


def note_undelivered(occurrence_ids: Sequence[int]) -> Sequence[int]:
    """What counted as told of these occurrences was taken back: unless another channel got it out, none did. Returns
    those of which that is news."""
    which = _rows.id.in_(occurrence_ids), _rows.state == State.MISSED, ~_rows.undelivered, ~_was_delivered
    return db.session.scalars(sa.update(occurrences).where(*which).values(undelivered=True).returning(_rows.id)).all()


def _count(*which: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
    return sa.func.count().filter(*which)


def counts(columns: sa.sql.base.ReadOnlyColumnCollection[str, sa.ColumnElement[Any]]) -> list[sa.Label[int]]:
    """What occurrences sum up to: those that fell due, and what became of each. The rest waits for an answer.

    `undelivered` are those that nobody answered and no channel got out; only the other unanswered ones are `missed`.
    """
    state, undelivered = columns["state"], columns["undelivered"]
    return [
        sa.func.count().label("due"),
        _count(state == State.DONE).label("done"),
        _count(state == State.SKIPPED).label("skipped"),
        _count(state == State.MISSED, ~undelivered).label("missed"),
        _count(state == State.MISSED, undelivered).label("undelivered"),
    ]


def compact_batch(now: datetime) -> int:
    """Turn the oldest occurrences into daily sums, a batch of them in one statement; returns how many."""
    old = (
        sa.select(_rows.id)
        .where(_rows.due_at < now - timedelta(days=KEEP_DAYS))
        .limit(COMPACT_BATCH)
        .with_for_update(skip_locked=True)
        .scalar_subquery()
    )
    gone = sa.delete(occurrences).where(_rows.id.in_(old)).returning(*_rows).cte("gone")
    keys = [gone.c[name] for name in ("user_id", "day", "reminder_id", "tipe", "judul")]
    sums = sa.select(*keys, *counts(gone.c)).where(gone.c.state != State.VOID).group_by(*keys)
    summed = insert(occurrence_days).from_select([column.name for column in sums.selected_columns], sums).cte("summed")
    return db.session.scalar(sa.select(sa.func.count()).select_from(gone).add_cte(summed)) or 0
