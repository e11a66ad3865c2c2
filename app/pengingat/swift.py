"""The answer that most answers are, in one statement: done or skipped, in time, to what repeats. Also once more.

The caller's session is asked for by the same statement. Whatever else there is to an answer (a stock, a visit, a late
one, the end of a course, a coming dose that is nearer, somebody at it in the same moment), it changes nothing, and
`answers` takes its time.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import sqlalchemy as sa

from app.core.database.prepared import PreparedStatement, embedded
from app.core.database.session import autocommit
from app.core.settings import settings
from app.identity.sessions import SESSION, SESSION_PARAMETERS, Reader
from app.pengingat.ledger import CHANGEABLE, LATEST
from app.pengingat.ledger_schemas import NewAnswer
from app.pengingat.models import LATE, AnsweredVia
from app.pengingat.schedule import AHEAD, MARGIN, WEEK

#: What a client is shown, all but `late`: nothing is, that is answered here.
COLUMNS = {
    "id": "id",
    "pengingat_id": "reminder_id",
    **{name: name for name in ("tipe", "judul", "slot", "due_at", "state")},
    **{name: name for name in ("answered_at", "answered_via", "snoozed_until", "undelivered")},
}
#: How many occurrences may be still to come: those of 36 hours, of four doses a day.
COMING = 6


def _from_now(span: timedelta) -> str:
    return f"{_NOW} + interval '{span.total_seconds():.0f} seconds'"


#: The database's clock. Asked here, for a statement of its own costs as much again as this one.
_NOW = "coalesce(:now, statement_timestamp())"
_SOON, _SINCE = _from_now(AHEAD), _from_now(-WEEK - MARGIN)
_CHANGEABLE_SINCE, _IN_TIME_SINCE = _from_now(-CHANGEABLE), _from_now(-LATE)


def _near(last: int) -> str:
    """The reminder's rows that are still to come, and so many of the last ones."""
    return f"""(
            SELECT o.id, o.xmin AS version, o.state, o.slot, o.due_at, o.answered_at FROM occurrences o
            WHERE o.reminder_id = seen.id ORDER BY o.due_at DESC, o.slot DESC LIMIT {COMING + last}
        ) near"""  # noqa: S608  # made of constants


def _around(over: str = "") -> str:
    """What these say of it: when its last dose fell due, when the next one does, how many come, and which is the last
    that may be none of the schedule's, or does not wait for its answer although it comes."""
    return f"""max(due_at) FILTER (WHERE due_at <= {_NOW} AND state <> 'void') {over} AS last_at,
            min(due_at) FILTER (WHERE due_at > {_NOW}) {over} AS next_at,
            count(*) FILTER (WHERE due_at > {_NOW}) {over} AS coming,
            max(due_at) FILTER (
                WHERE state = 'void' OR answered_at < greatest(due_at, seen.active_from)
                    OR due_at > {_NOW} AND state <> 'pending'
            ) {over} AS odd_at"""


_LAST_IS_CURRENT = f"""coming <= {COMING} AND last_at > greatest(seen.active_from, {_SINCE})
            AND (odd_at IS NULL OR odd_at < last_at)
            AND NOT (next_at < {_SOON} AND next_at - {_NOW} < {_NOW} - last_at)"""

#: Which occurrence is answered, chosen as `answers` does: the one that the answer names, or that the person means now.
_NAMED = f"""
        SELECT named.*, last_at, next_at FROM (
            SELECT o.id, o.xmin AS version, o.state FROM occurrences o
            WHERE o.reminder_id = seen.id AND o.due_at >= :due_at AND o.due_at < :due_at + interval '1 second'
                AND o.slot = coalesce(:slot, o.slot)
            ORDER BY o.state <> 'pending', o.slot LIMIT 1
        ) named, (SELECT {_around()} FROM {_near(1)}) around
        WHERE {_LAST_IS_CURRENT}"""  # noqa: S608  # made of constants
_MEANT_NOW = f"""
        SELECT id, version, state, last_at, next_at FROM (
            SELECT near.*, {_around("OVER ()")} FROM {_near(LATEST)}
        ) near
        WHERE {_LAST_IS_CURRENT}
            AND due_at <= {_NOW} AND (state = 'pending' OR odd_at IS NULL AND next_at > {_SOON})
        ORDER BY state <> 'pending', due_at DESC, slot DESC LIMIT 1"""  # noqa: S608  # made of constants


def _prepared(meant: str, *names: sa.BindParameter[object]) -> PreparedStatement:
    """The statement that answers what `meant` chooses by these names. It is of few parts, for each costs it 15 µs.

    `own` holds person and reminder, in this order; `seen` is the reminder as it was before, unless somebody changed it
    while this waited for it. Of the occurrence that is told by its `version`. All else is read as it was before.

    `_around` finds the current occurrence as `Schedule.current_occurrence` does, by the rows of the ledger. For that
    the one after it has to be there, and from the current one on the rows have to be the schedule's, each still to
    come waiting for its answer: none void, which may be one of its doses, none that was answered before an edit, or
    ahead, and may be one no more or something that `marked` would have to take in.

    The same answer once more, as after a line that was cut, changes nothing that anybody sees and is as good.
    """
    shown = ", ".join(f"o.{column}" for column in COLUMNS.values())
    statement = f"""
WITH answered AS (
    UPDATE occurrences o SET state = :state,
        answered_at = CASE WHEN meant.state = :state THEN o.answered_at ELSE {_NOW} END,
        answered_via = CASE WHEN meant.state = :state THEN o.answered_via ELSE '{AnsweredVia.APP}' END,
        note = CASE WHEN meant.state = :state THEN o.note ELSE coalesce(:note, o.note) END
    FROM ({embedded(SESSION)}) session(session), (
        SELECT r.id, r.xmin AS version FROM reminders r JOIN users u ON u.id = r.user_id
        WHERE r.id = :reminder_id AND r.user_id = :user_id FOR NO KEY UPDATE OF u, r
    ) own JOIN reminders seen ON seen.id = own.id AND seen.xmin = own.version, LATERAL ({meant}
    ) meant
    WHERE seen.tipe <> 'kontrol' AND seen.plan -> 'slots' IS NOT NULL AND seen.details -> 'persediaan' IS NULL
        AND o.id = meant.id AND o.xmin = meant.version AND o.due_at <= last_at AND o.taken IS NULL
        AND (o.state = 'pending' OR o.state IN ('done', 'skipped') AND o.answered_at > {_CHANGEABLE_SINCE})
        AND (:state <> 'done' OR greatest(o.due_at, o.snoozed_until) > {_IN_TIME_SINCE})
    RETURNING session, {shown}, meant.state <> :state AS is_news, o.due_at = last_at AS is_current,
        CASE WHEN :state = 'done' THEN next_at END AS done_until
), cancelled AS (
    UPDATE deliveries d SET state = 'cancelled', settled_at = statement_timestamp(),
        payload = CASE WHEN :is_production THEN '{{}}' ELSE d.payload END
    FROM answered WHERE is_news AND d.occurrence_id = answered.id AND d.state IN ('pending', 'claimed')
), marked AS (
    UPDATE reminders r SET updated_at = statement_timestamp(), done_from = NULL, done_until = answered.done_until
    FROM answered
    WHERE r.id = answered.reminder_id AND is_news AND is_current
        AND (r.done_from, r.done_until) IS DISTINCT FROM (NULL::timestamptz, answered.done_until)
)
SELECT session, {shown} FROM answered o
"""  # noqa: S608  # made of constants
    return PreparedStatement(
        sa.text(statement).bindparams(
            *SESSION_PARAMETERS,
            sa.bindparam("reminder_id", type_=sa.BigInteger),
            *(sa.bindparam(name, type_=sa.Text) for name in ("state", "note")),
            sa.bindparam("now", type_=sa.DateTime(timezone=True)),
            sa.bindparam("is_production", type_=sa.Boolean),
            *names,
        )
    )


_answer_named = _prepared(
    _NAMED, sa.bindparam("due_at", type_=sa.DateTime(timezone=True)), sa.bindparam("slot", type_=sa.Text)
)
_answer_meant_now = _prepared(_MEANT_NOW)


def answer(by: Reader, pengingat_id: int, data: NewAnswer, now: datetime | None = None) -> dict[str, object] | None:
    """The occurrence that a person named or means, as they answered it in the application, in the fields of the schema
    `Occurrence`; None where it takes more, or their session has ended.

    What they mean depends on the moment: `now`, else that of the database's clock.
    """
    if data.status == "snooze" or (data.slot and data.due_at is None):
        return None
    values = {
        **by.session_values,
        "reminder_id": pengingat_id,
        "state": data.status,
        "note": data.note,
        "now": now,
        "is_production": settings.is_production,
        "due_at": data.due_at and data.due_at.replace(microsecond=0),
        "slot": data.slot,
    }
    with autocommit() as connection:
        rows = (_answer_named if data.due_at else _answer_meant_now).rows(connection, values)
    if not rows:
        return None
    session, *answered = rows[0]
    by.confirm(session)
    return {**dict(zip(COLUMNS, answered, strict=True)), "late": False}
