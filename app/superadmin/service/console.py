"""SQL console: runs the text of a super-admin, and returns or exports the answer to its last statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import monotonic

import psycopg2

from app.core.database.session import unit_of_work
from app.core.exports import csv
from app.core.exports.streaming import Chunks, Download, start_download
from app.identity import audit
from app.identity.sessions import Caller
from app.superadmin.service.session import NO_HUGE_ROW, Session, opened
from app.superadmin.service.values import BY_OID, NUMBERS, unique

MAX_ROWS = 1000
MAX_BYTES = 4 * 1024 * 1024

#: Limits of one FETCH: rows, and characters as the rows before suggest.
FETCHED_ROWS = 100
FETCHED_CHARACTERS = 256 * 1024

#: Characters after a query that a subquery may not have.
ENDS = "; \r\n\t"

#: SQLSTATEs of texts that are not one query: several statements, a command, a write, SELECT INTO.
NO_QUERY = ("42601", "0A000")

#: Commands whose `row_count` is the number of rows touched, not of those returned.
WRITES = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE"})

Rows = Sequence[tuple[str | None, ...]]


@dataclass(frozen=True)
class Answer:
    """Answer to the last statement of a text. `pieces` reads its rows, piece by piece."""

    command: str
    touched: int
    names: list[str]
    oids: list[int]
    pieces: Iterator[Rows]


def run(sql: str, by: Caller) -> dict[str, object]:
    """Run `sql` and return the answer to its last statement, at most 1,000 rows."""
    _record(by, "query", sql)
    started = monotonic()
    with opened() as session:
        answer = _execute(session, sql)
        rows, is_truncated = _first(answer)
    return {
        "columns": answer.names,
        "rows": rows,
        "row_count": answer.touched if answer.command in WRITES else len(rows),
        "truncated": is_truncated,
        "duration_ms": round((monotonic() - started) * 1000),
        "command": answer.command,
    }


def export(sql: str, by: Caller) -> Download:
    """Run `sql` and stream all rows of its last statement as CSV."""
    _record(by, "query/export", sql)
    return start_download("query.csv", _csv(sql))


def _record(by: Caller, subject: str, sql: str) -> None:
    """Record a statement before it runs, because it may end every database connection.

    Also log a line, because a statement can delete its own entry. The line omits the statement, because it may contain
    personal data. An erasure cannot remove personal data from log files.
    """
    action = audit.AuditAction.SQL
    with unit_of_work():
        entry_id = audit.record(by, action, subject, query=sql)
    extra = {"entry_id": entry_id, "actor_id": by.id, "action": action.value, "subject": subject, "ip": by.ip}
    audit.logger.warning("audit", extra=extra)


def _csv(sql: str) -> Chunks:
    with opened(limits_each_statement=True) as session:
        answer = _execute(session, sql)
        yield from csv.lines(answer.names, [oid not in NUMBERS for oid in answer.oids], answer.pieces)


def _execute(session: Session, sql: str) -> Answer:
    is_query = _declare(session, sql)
    cursor = session.execute("FETCH 1 FROM console" if is_query else sql)
    columns = cursor.description or ()
    rows = cursor.fetchall() if columns else []
    tag = "SELECT" if is_query else cursor.statusmessage or ""
    return Answer(
        " ".join(word for word in tag.split() if not word.isdigit()),
        cursor.rowcount,
        unique(column.name for column in columns),
        [column.type_code for column in columns],
        _fetch(session, rows) if is_query else iter([rows]),
    )


def _declare(session: Session, sql: str) -> bool:
    """Declare a cursor for a text of one query. Return False for any other text, which then did nothing.

    PostgreSQL parses the whole text before it runs anything. It finds an error if this is not one query.
    """
    query = f"SELECT * FROM (\n{sql.rstrip(ENDS)}\n) AS the_row {NO_HUGE_ROW}"  # noqa: S608  # any SQL is allowed here
    session.execute("SAVEPOINT console")
    try:
        session.execute(f"DECLARE console NO SCROLL CURSOR FOR {query}")
    except psycopg2.Error as error:
        if error.pgcode not in NO_QUERY:
            raise
        session.execute("ROLLBACK TO console")
        return False
    return True


def _fetch(session: Session, rows: Rows) -> Iterator[Rows]:
    while rows:
        yield rows
        size = sum(len(cell or "") for row in rows for cell in row) // len(rows)
        count = min(FETCHED_ROWS, FETCHED_CHARACTERS // (size + 1) + 1)
        rows = session.execute(f"FETCH {count} FROM console").fetchall()


def _first(answer: Answer) -> tuple[list[dict[str, object]], bool]:
    """Return the first rows as JSON values, up to the limits, and whether there are more."""
    converts = [BY_OID.get(oid, str) for oid in answer.oids]
    found: list[dict[str, object]] = []
    size = 0
    for row in (row for piece in answer.pieces for row in piece):
        size += sum(len((cell or "").encode()) for cell in row)
        if len(found) == MAX_ROWS or size > MAX_BYTES:
            return found, True
        values = (cell if cell is None else convert(cell) for convert, cell in zip(converts, row, strict=True))
        found.append(dict(zip(answer.names, values, strict=True)))
    return found, False
