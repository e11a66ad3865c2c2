"""Process that runs one request of the SQL console and ends.

The driver loads each cell into memory as a whole, so a result can be too large for the memory. For this reason, the
statements run in a separate process with a memory limit. A result that is too large then ends only this process and not
the service.
"""

from __future__ import annotations

import csv
import io
import json
import resource
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import psycopg2
from psycopg2.extensions import connection as Connection  # noqa: N812  # a class despite its lower-case name
from psycopg2.extensions import cursor as Cursor  # noqa: N812

from app.core.lib.csv_injection import guarded
from app.superadmin.runner.frames import FrameKind, QueryFailure, QueryResult, Request, packed
from app.superadmin.runner.statements import Statement, split
from app.superadmin.runner.values import to_json, unique

#: Bytes that the result may use, in addition to the memory of the process at its start.
MEMORY_BYTES = 32 * 1024 * 1024

MAX_ROWS = 1000
MAX_RESULT_BYTES = 4 * 1024 * 1024
CHUNK_BYTES = 64 * 1024
MAX_FETCHED = 500

#: SQLSTATEs of the errors after which a statement runs without a cursor. DECLARE CURSOR rejects a write within or after
#: WITH, and SELECT INTO. A real syntax error also has one of these SQLSTATEs. The statement then fails again without a
#: cursor.
NOT_FOR_A_CURSOR = ("0A000", "42P11", "42601")

#: Commands whose `row_count` is the number of affected rows, not of returned rows.
WRITES = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE"})

#: Query that returns whether the role is too powerful. Such a role can run programs or use files on the server, or can
#: become another role with these rights. Before PostgreSQL 16, every role with CREATEROLE is too powerful. It may grant
#: itself every role except superusers. The query also checks SECURITY DEFINER functions, which run with the rights of
#: their owner. Functions of superusers are trusted. Every name in the query is qualified, because the role can set the
#: search path.
TOO_POWERFUL = """
WITH powerful AS (
    SELECT oid FROM pg_catalog.pg_roles
    WHERE rolsuper
        OR (rolcreaterole AND pg_catalog.current_setting('server_version_num')::int OPERATOR(pg_catalog.<) 160000)
        OR rolname OPERATOR(pg_catalog.=) ANY (
            '{pg_execute_server_program, pg_write_server_files, pg_read_server_files}'
        )
)
SELECT EXISTS (SELECT FROM powerful WHERE pg_catalog.pg_has_role(session_user, powerful.oid, 'MEMBER'))
    OR EXISTS (
        SELECT FROM pg_catalog.pg_proc AS lent
        JOIN pg_catalog.pg_roles AS owner ON owner.oid OPERATOR(pg_catalog.=) lent.proowner
        JOIN powerful ON pg_catalog.pg_has_role(owner.oid, powerful.oid, 'MEMBER')
        WHERE lent.prosecdef AND NOT owner.rolsuper
            AND pg_catalog.has_function_privilege(session_user, lent.oid, 'EXECUTE')
    )
"""

#: Query that keeps errors out of the server's log, if the role may set `log_min_messages`. An error may quote personal
#: data from a row. Only the response to the caller may contain such data.
KEEP_OUT_OF_THE_LOG = """
SELECT pg_catalog.set_config('log_min_messages', 'fatal', false)
WHERE pg_catalog.has_parameter_privilege('log_min_messages', 'SET')
"""

#: Query that returns the backend (server process) of this connection. Names are qualified.
#: Otherwise the role could redirect the names, and make the service end another backend.
OWN_BACKEND = """
SELECT pid, backend_start FROM pg_catalog.pg_stat_activity
WHERE pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid()
"""

#: Statements that restore the settings that `split` assumes. An earlier statement may have changed these settings.
RESTORE_SPLIT_SETTINGS = "SET standard_conforming_strings = on; SET client_encoding = 'UTF8'"

CONNECTION_FAILURE = "08006"
INSUFFICIENT_PRIVILEGE = "42501"
INVALID_TRANSACTION_TERMINATION = "2D000"

NUMBERS = frozenset({20, 21, 23, 26, 700, 701, 1700})


class Refused(Exception):
    def __init__(self, message: str, sqlstate: str) -> None:
        super().__init__(message)
        self.sqlstate = sqlstate


class RoleTooPowerful(Exception):
    """Error: the role could run programs on the database server, or become a role that can."""


class ResultRows:
    """Rows of the last statement, in batches that stay small even if rows are large."""

    def __init__(self, cursor: Cursor, *, fetches: bool) -> None:
        """Read rows from the SQL cursor `console` if `fetches` is true. Otherwise `cursor` has received all rows."""
        self._cursor = cursor
        self.fetches = fetches
        self._batch: list[tuple[str | None, ...]] = []
        if fetches:
            cursor.execute("FETCH FORWARD 1 FROM console")
        description = cursor.description or ()
        self.names = unique(column.name for column in description)
        self.oids = [column.type_code for column in description]
        self._batch = self._read()

    def __iter__(self) -> Iterator[tuple[str | None, ...]]:
        while self._batch:
            size = sum(len(cell or "") for row in self._batch for cell in row) / len(self._batch)
            yield from self._batch
            if not self.fetches:
                self._batch = self._read()
                continue
            self._batch = []  # free the memory before the next fetch
            count = max(1, min(MAX_FETCHED, int(CHUNK_BYTES / max(1, size))))
            self._cursor.execute(f"FETCH FORWARD {count} FROM console")
            self._batch = self._read()

    def _read(self) -> list[tuple[str | None, ...]]:
        return self._cursor.fetchmany(MAX_FETCHED)


def main() -> None:
    request: Request = json.load(sys.stdin)
    out = sys.stdout.buffer
    limit_memory()
    try:
        run(request, out)
    except Refused as error:
        send_failure(out, {"message": str(error), "sqlstate": error.sqlstate})
    except RoleTooPowerful:
        send_failure(out, {"too_powerful": True})
    except (MemoryError, psycopg2.Error) as error:
        send_failure(out, failure_of(error))
    except UnicodeError:
        send_failure(out, {"message": "Hasil kueri tidak dalam UTF-8.", "sqlstate": "22021"})


def run(request: Request, out: BinaryIO) -> None:
    """Run all statements in one transaction. Send CSV chunks as they come, and the result after the commit."""
    statements = split(request["query"])
    check(statements)
    connection = psycopg2.connect(**request["connection"])
    try:
        connection.set_session(readonly=request["read_only"])
        with connection, connection.cursor() as cursor:  # commits at the end of the block
            as_text(connection)
            check_role(cursor)
            cursor.execute(KEEP_OUT_OF_THE_LOG)
            send_backend(cursor, out)
            result = run_all(cursor, statements, out if request["csv"] else None)
            check_role(cursor)  # check again, because a statement may have given the role more rights
        send(out, FrameKind.RESULT, result)
    except psycopg2.InterfaceError as error:  # the rollback failed because the connection broke; raise the first error
        raise error.__context__ or error from None
    finally:
        connection.close()


def check_role(cursor: Cursor) -> None:
    """Raise `RoleTooPowerful` for a role that could bypass every limit of the console."""
    cursor.execute(TOO_POWERFUL)
    if cursor.fetchone() != ("f",):
        raise RoleTooPowerful


def send_backend(cursor: Cursor, out: BinaryIO) -> None:
    """Send the process id and the start time of the backend (server process) to the service."""
    # The query also makes the transaction take a snapshot. After a snapshot, no statement can make a read-only
    # transaction writable.
    cursor.execute(OWN_BACKEND)
    pid, started = cursor.fetchone() or ("", "")
    send(out, FrameKind.BACKEND, {"pid": int(pid), "started": started})


def run_all(cursor: Cursor, statements: list[Statement], csv_out: BinaryIO | None) -> QueryResult:
    """Run all statements and return the result of the last one. If `csv_out` is given, write the rows to it."""
    for statement in statements[:-1]:
        execute(cursor, statement, is_last=False)
        cursor.execute(RESTORE_SPLIT_SETTINGS)
    if not statements:
        return {"columns": [], "rows": [], "row_count": 0, "truncated": False, "command": ""}
    rows = execute(cursor, statements[-1], is_last=True)
    result = summary(cursor, rows)
    if csv_out is not None:
        write_csv(rows, csv_out)
    elif rows is not None:
        collect(rows, result)
    return result


def check(statements: list[Statement]) -> None:
    """Raise `Refused` for transaction control and COPY."""
    for statement in statements:
        if statement.controls_transaction:
            raise Refused(
                "Satu permintaan adalah satu transaksi, dan tidak dapat memulai atau mengakhiri yang lain.",
                INVALID_TRANSACTION_TERMINATION,
            )
        if statement.is_copy:
            raise Refused(
                "COPY membaca dan menulis berkas di server basis data. Gunakan ekspor.", INSUFFICIENT_PRIVILEGE
            )


def execute(cursor: Cursor, statement: Statement, *, is_last: bool) -> ResultRows | None:
    """Run a statement. Return the rows of the last statement, if it has any.

    Rows of other statements are not transferred. Rows of the last statement come from a cursor if possible.
    """
    if statement.reads and open_cursor(cursor, statement):
        if is_last:
            return ResultRows(cursor, fetches=True)
        cursor.execute("MOVE FORWARD ALL FROM console")
        cursor.execute("CLOSE console")
        return None
    cursor.execute(statement.text)
    return ResultRows(cursor, fetches=False) if is_last and cursor.description else None


def open_cursor(cursor: Cursor, statement: Statement) -> bool:
    """Declare the cursor `console` for the statement. Return whether PostgreSQL allows this cursor."""
    cursor.execute("SAVEPOINT console")
    try:
        cursor.execute(f"DECLARE console NO SCROLL CURSOR FOR {statement.text}")
    except psycopg2.Error as error:
        if error.pgcode not in NOT_FOR_A_CURSOR:
            raise
        cursor.execute("ROLLBACK TO SAVEPOINT console")
        return False
    cursor.execute("RELEASE SAVEPOINT console")
    return True


def summary(cursor: Cursor, rows: ResultRows | None) -> QueryResult:
    tag = "SELECT" if rows and rows.fetches else cursor.statusmessage or ""
    command = " ".join(word for word in tag.split() if not word.isdigit())
    touched = 0 if rows and command not in WRITES else max(0, cursor.rowcount)
    columns = rows.names if rows else []
    return {"columns": columns, "rows": [], "row_count": touched, "truncated": False, "command": command}


def collect(rows: ResultRows, result: QueryResult) -> None:
    """Add the first rows to `result`, up to the limits. For a write, `row_count` stays the number of affected rows."""
    size = 0
    for row in rows:
        size += sum(len(cell or "") + 16 for cell in row)
        if len(result["rows"]) == MAX_ROWS or (size > MAX_RESULT_BYTES and result["rows"]):
            result["truncated"] = True
            break
        if size > MAX_RESULT_BYTES:
            raise MemoryError
        values = (to_json(cell, oid) for cell, oid in zip(row, rows.oids, strict=True))
        result["rows"].append(dict(zip(rows.names, values, strict=True)))
    if result["command"] not in WRITES:
        result["row_count"] = len(result["rows"])


def write_csv(rows: ResultRows | None, out: BinaryIO) -> None:
    """Write all rows as CSV in chunks, with a byte-order mark and escaped formulas."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    buffer.write("\ufeff")
    if rows is not None:
        writer.writerow([guarded(name) for name in rows.names])
        numeric = [oid in NUMBERS for oid in rows.oids]
        for row in rows:
            writer.writerow(
                cell if cell is None or number else guarded(cell) for cell, number in zip(row, numeric, strict=True)
            )
            if buffer.tell() >= CHUNK_BYTES:
                out.write(packed(FrameKind.CHUNK, buffer.getvalue().encode()))
                buffer.seek(0)
                buffer.truncate()
    out.write(packed(FrameKind.CHUNK, buffer.getvalue().encode()))
    out.flush()


def as_text(connection: Connection) -> None:
    """Make the driver return every value as PostgreSQL's text."""
    oids = tuple(psycopg2.extensions.string_types)
    plain = psycopg2.extensions.new_type(oids, "PLAIN", lambda value, _: value)
    psycopg2.extensions.register_type(plain, connection)
    connection.set_client_encoding("UTF8")


def failure_of(error: BaseException) -> QueryFailure:
    """Return PostgreSQL's own message and SQLSTATE, or `too_large` if the process ran out of memory."""
    if any(is_out_of_memory(each) for each in chain(error)):
        return {"too_large": True}
    diagnosis = getattr(error, "diag", None)
    message = getattr(diagnosis, "message_primary", None) or str(error).strip().partition("\n")[0]
    return {"message": message, "sqlstate": getattr(error, "pgcode", None) or CONNECTION_FAILURE}


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the error and the errors before it.

    If memory runs out, the driver closes the connection. The last error is then about the closed connection. An earlier
    error is about the memory.
    """
    while error is not None:
        yield error
        error = error.__context__


def is_out_of_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or (getattr(error, "pgcode", None) is None and "memory" in str(error))


def send_failure(out: BinaryIO, failure: QueryFailure) -> None:
    send(out, FrameKind.ERROR, failure)


def send(out: BinaryIO, kind: FrameKind, body: Mapping[str, object]) -> None:
    out.write(packed(kind, json.dumps(body).encode()))
    out.flush()


def limit_memory() -> None:
    """Limit the memory of the process to its present use plus `MEMORY_BYTES` (Linux only)."""
    status = Path("/proc/self/status")
    if not status.exists():
        return
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
    allowed = int(lines["VmData"].split()[0]) * 1024 + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_DATA, (allowed, allowed))


if __name__ == "__main__":
    main()
