"""The answer that most answers are, in one statement: done or skipped, in time, to what repeats. Also once more.

Whatever else there is to it (a stock, a visit, a late answer, the end of a course, somebody at it in the same moment),
the statement changes nothing, and `answers` takes its time.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import sqlalchemy as sa

from app.core.database.prepared import PreparedStatement
from app.core.database.session import autocommit
from app.core.settings import settings
from app.pengingat.ledger import CHANGEABLE
from app.pengingat.ledger_schemas import NewAnswer
from app.pengingat.models import LATE, AnsweredVia, Occurrence, State
from app.pengingat.schedule import AHEAD, MARGIN, WEEK

#: What the statement gives, and a client is shown.
COLUMNS = ("id", "reminder_id", "tipe", "judul", "slot", "due_at", "state", "answered_at", "answered_via",
           "snoozed_until", "undelivered")  # fmt: skip
_COLUMNS = ", ".join(f"o.{name}" for name in COLUMNS)


def _from_now(span: timedelta) -> str:
    return f"{_NOW} + interval '{span.total_seconds():.0f} seconds'"


#: The database's clock. Asked here, for a statement of its own costs as much again as this one.
_NOW = "coalesce(:now, statement_timestamp())"
_SOON, _SINCE = _from_now(AHEAD), _from_now(-WEEK - MARGIN)
_CHANGEABLE_SINCE, _IN_TIME_SINCE = _from_now(-CHANGEABLE), _from_now(-LATE)

#: Which occurrence is answered, chosen as `answers` does: the one that the answer names, or that the person means now.
_NAMED = """
meant AS MATERIALIZED (
    SELECT o.id, o.xmin AS version, o.due_at FROM calm JOIN occurrences o ON o.reminder_id = calm.id
    WHERE o.due_at >= :due_at AND o.due_at < :due_at + interval '1 second' AND o.slot = coalesce(:slot, o.slot)
    ORDER BY o.state <> 'pending', o.slot LIMIT 1
)"""
_MEANT_NOW = f"""
latest AS MATERIALIZED (
    SELECT last.* FROM calm, LATERAL (
        SELECT o.id, o.xmin AS version, o.state, o.slot, o.due_at,
            o.state = 'pending' AND o.due_at > {_NOW} AS is_coming
        FROM occurrences o WHERE o.reminder_id = calm.id AND o.state <> 'void' AND o.due_at <= {_SOON}
        ORDER BY o.due_at DESC, o.slot DESC LIMIT 10
    ) last
), meant AS MATERIALIZED (
    SELECT id, version, due_at FROM latest ORDER BY
        state <> 'pending', is_coming, CASE WHEN is_coming THEN due_at END, CASE WHEN is_coming THEN slot END,
        due_at DESC, slot DESC
    LIMIT 1
)"""  # noqa: S608  # made of constants


def _prepared(meant: str, *names: sa.BindParameter[object]) -> PreparedStatement:
    """The statement that answers what `meant` chooses by these names.

    `own` holds person and reminder, in this order. `calm`: nobody changed the reminder while this waited for it, nor
    the occurrence (`version`), for all else is read as it was before. `around` and `told` find the current occurrence
    as `Schedule.current_occurrence` does, by the rows of the ledger: the one after it has to be there, nothing may be
    done ahead, which `marked` would have to take in, and around them the rows have to be the schedule's: none void,
    which may be one of its doses, and none that was answered before an edit, or ahead, which may be one no more. The
    same answer once more, as after a line that was cut, changes nothing and is as good.
    """
    statement = f"""
WITH own AS MATERIALIZED (
    SELECT r.id, r.xmin AS version FROM reminders r JOIN users u ON u.id = r.user_id
    WHERE r.id = :reminder_id AND r.user_id = :user_id FOR NO KEY UPDATE OF u, r
), calm AS MATERIALIZED (
    SELECT seen.id, seen.active_from FROM own JOIN reminders seen ON seen.id = own.id AND seen.xmin = own.version
    WHERE seen.tipe <> 'kontrol' AND seen.plan -> 'slots' IS NOT NULL AND seen.details -> 'persediaan' IS NULL
), {meant}, around AS MATERIALIZED (
    SELECT calm.*,
        (SELECT max(o.due_at) FROM occurrences o WHERE o.reminder_id = calm.id AND o.state <> 'void'
            AND o.due_at > greatest(calm.active_from, {_SINCE}) AND o.due_at <= {_NOW}) AS last_at,
        (SELECT min(o.due_at) FROM occurrences o WHERE o.reminder_id = calm.id AND o.state <> 'void'
            AND o.due_at > {_NOW}) AS next_at
    FROM calm
), told AS MATERIALIZED (
    SELECT around.id, current.at, coming.done_until FROM around, LATERAL (
        SELECT CASE WHEN next_at < {_SOON} AND next_at - {_NOW} < {_NOW} - last_at THEN next_at ELSE last_at END AS at
    ) current, LATERAL (
        SELECT min(o.due_at) AS done_until, bool_or(o.state = 'done') AS is_any_done FROM occurrences o
        WHERE o.reminder_id = around.id AND o.state <> 'void' AND o.due_at > current.at
    ) coming
    WHERE last_at IS NOT NULL AND next_at IS NOT NULL AND NOT is_any_done AND NOT EXISTS (
        SELECT FROM occurrences o WHERE o.reminder_id = around.id AND o.due_at BETWEEN last_at AND done_until
            AND (o.state = 'void' OR o.answered_at < around.active_from
                OR o.due_at > current.at AND o.state <> 'pending'))
), answered AS (
    UPDATE occurrences o SET state = :state, answered_at = {_NOW}, answered_via = :via, note = coalesce(:note, o.note)
    FROM meant, told
    WHERE o.id = meant.id AND o.xmin = meant.version AND meant.due_at <= told.at AND o.taken IS NULL
        AND (o.state = 'pending' OR o.state = :opposite AND o.answered_at > {_CHANGEABLE_SINCE})
        AND (:state <> 'done' OR greatest(o.due_at, o.snoozed_until) > {_IN_TIME_SINCE})
    RETURNING {_COLUMNS}
), cancelled AS (
    UPDATE deliveries d SET state = 'cancelled', settled_at = statement_timestamp(),
        payload = CASE WHEN :is_production THEN '{{}}' ELSE d.payload END
    FROM answered WHERE d.occurrence_id = answered.id AND d.state IN ('pending', 'claimed')
), marked AS (
    UPDATE reminders r SET updated_at = statement_timestamp(), done_from = NULL,
        done_until = CASE WHEN :state = 'done' THEN told.done_until END
    FROM answered, told
    WHERE r.id = told.id AND answered.due_at = told.at
        AND (r.done_from, r.done_until)
            IS DISTINCT FROM (NULL::timestamptz, CASE WHEN :state = 'done' THEN told.done_until END)
)
SELECT * FROM answered
UNION ALL
SELECT {_COLUMNS} FROM meant JOIN occurrences o ON o.id = meant.id AND o.xmin = meant.version WHERE o.state = :state
"""  # noqa: S608  # made of constants
    return PreparedStatement(
        sa.text(statement).bindparams(
            *(sa.bindparam(name, type_=sa.BigInteger) for name in ("user_id", "reminder_id")),
            *(sa.bindparam(name, type_=sa.Text) for name in ("state", "opposite", "via", "note")),
            sa.bindparam("now", type_=sa.DateTime(timezone=True)),
            sa.bindparam("is_production", type_=sa.Boolean),
            *names,
        )
    )


_answer_named = _prepared(
    _NAMED, sa.bindparam("due_at", type_=sa.DateTime(timezone=True)), sa.bindparam("slot", type_=sa.Text)
)
_answer_meant_now = _prepared(_MEANT_NOW)
_OPPOSITE = {State.DONE: State.SKIPPED, State.SKIPPED: State.DONE}


def answer(user_id: int, pengingat_id: int, data: NewAnswer, now: datetime | None = None) -> Occurrence | None:
    """The occurrence that a person named or means, as they answered it in the application; None where it takes more.

    What they mean depends on the moment: `now`, else that of the database's clock.
    """
    due_at, slot = data.get("due_at"), data.get("slot")
    if data["status"] == "snooze" or (slot and due_at is None):
        return None
    state = State(data["status"])
    values = {
        "user_id": user_id,
        "reminder_id": pengingat_id,
        "state": state,
        "opposite": _OPPOSITE[state],
        "via": AnsweredVia.APP,
        "note": data.get("note"),
        "now": now,
        "is_production": settings.is_production,
        "due_at": due_at and due_at.replace(microsecond=0),
        "slot": slot,
    }
    with autocommit() as connection:
        rows = (_answer_named if due_at else _answer_meant_now).rows(connection, values)
    return Occurrence(**dict(zip(COLUMNS, rows[0], strict=True))) if rows else None
