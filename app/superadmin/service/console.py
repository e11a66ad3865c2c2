"""SQL console. Each request runs in its own process (the runner) and in its own database connection.

A statement can change every setting of its session, such as the statement timeout. The service therefore enforces the
time limit from outside. The service opens another connection to cancel the statement. If the statement continues, the
service terminates the backend (server process). The service also kills the runner.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from time import monotonic
from typing import Any

import orjson
import psycopg2
import sqlalchemy as sa

from app.core.database.session import unit_of_work
from app.core.errors import BadRequest, Unavailable
from app.core.exports.streaming import MIMETYPES, Chunks, Download, start_eagerly
from app.core.settings import settings
from app.core.slots import Slots
from app.identity import access_log, audit
from app.identity.sessions import Caller
from app.superadmin.runner.frames import HEAD, Backend, FrameKind, QueryFailure, QueryResult, Request
from config import ROOT

#: Maximum seconds from the first statement to the commit. In an export, maximum seconds between two chunks.
LIMIT_S = 15.0
#: Seconds between cancelling a statement and terminating its backend.
GRACE_S = 1.0

CANCEL = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE pid = %s AND backend_start = %s"
TERMINATE = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s AND backend_start = %s"

RUNS = Slots(2, wait_s=5, message="Konsol SQL sedang dipakai. Silakan coba lagi.")


class SqlError(BadRequest):
    """A database error with PostgreSQL's own message. Other routes never return this message."""

    code = "sql_error"

    def __init__(self, message: str, sqlstate: str) -> None:
        super().__init__(message)
        self.extra = {"sqlstate": sqlstate}


class ResultTooLarge(BadRequest):
    code = "result_too_large"
    message = "Hasil terlalu besar. Persempit kueri, misalnya dengan left() pada kolom yang panjang."


class QueryTimeout(BadRequest):
    code = "query_timeout"
    message = f"Kueri dihentikan karena berjalan lebih dari {LIMIT_S:.0f} detik."


class TooPowerful(Unavailable):
    """Error: the console's role could run programs on the database server, for example by COPY in a DO block."""

    code = "superuser_role"
    message = (
        "Konsol SQL tidak dapat dipakai: peran basis datanya dapat menjalankan program di server basis data."
        " Ini berlaku untuk superuser, anggota pg_execute_server_program, dan sebelum PostgreSQL 16 juga CREATEROLE."
        " Operator perlu memberi konsol peran sendiri dengan deploy/sql-role.sql,"
        " atau mencabut haknya, misalnya dengan `ALTER ROLE ... NOCREATEROLE`."
    )


class TimedResult(QueryResult):
    duration_ms: int


def run(sql: str, by: Caller) -> TimedResult:
    """Run `sql` and return the result of its last statement, at most 1,000 rows."""
    _record(by, "query", sql)
    started = monotonic()
    with RUNS.slot(), Run(sql, as_csv=False) as process:
        for _ in process.chunks():
            raise RuntimeError("the runner sent CSV without being asked for it")
    return {**process.result, "duration_ms": round((monotonic() - started) * 1000)}


def export(sql: str, by: Caller) -> Download:
    """Run `sql` and stream all rows of its last statement as CSV."""
    _record(by, "query/export", sql)
    return Download("query.csv", MIMETYPES["csv"], start_eagerly(_csv(sql)))


def _record(by: Caller, subject: str, sql: str) -> None:
    """Record a statement before it runs, because it may end every database connection.

    Also log a line, because a statement can delete its own entry. The line omits the statement, because it may contain
    personal data. An erasure cannot remove personal data from log files.
    """
    action = audit.AuditAction.SQL
    with unit_of_work():
        entry_id = audit.record(by, action, subject, query=sql)
        access_log.record_many(by, access_log.AccessAction.DATABASE_READ, access_log.Covers.EVERYBODY)
    extra = {"entry_id": entry_id, "actor_id": by.id, "action": action.value, "subject": subject, "ip": by.ip}
    audit.logger.warning("audit", extra=extra)


def _csv(sql: str) -> Chunks:
    with RUNS.slot(), Run(sql, as_csv=True) as run:
        yield from run.chunks()


class Run:
    """A runner process. When the `with` block ends, the process and its backend have ended too."""

    def __init__(self, sql: str, *, as_csv: bool) -> None:
        self.result: QueryResult = {"columns": [], "rows": [], "row_count": 0, "truncated": False, "command": ""}
        self._limit_each_piece = as_csv
        self._backend: Backend | None = None
        self._request: Request = {
            "query": sql,
            "csv": as_csv,
            "read_only": settings.superadmin_sql_mode == "ro",
            "connection": _parameters(settings.superadmin_database_url or settings.database_url),
        }

    def __enter__(self) -> Run:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "app.superadmin.runner"],
            cwd=ROOT,
            env={},  # the service's environment contains secrets that the process must not have
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._end_backend()
            self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                with suppress(OSError):
                    pipe.close()
        self._process.wait()

    def chunks(self) -> Iterator[bytes]:
        """Yield CSV chunks as they arrive. At the end, the transaction is committed and `result` is set."""
        with suppress(BrokenPipeError):
            stdin = self._process.stdin
            if stdin:
                stdin.write(json.dumps(self._request).encode())
                stdin.close()
        self._deadline = monotonic() + LIMIT_S
        while True:
            kind, body = self._frame()
            match kind:
                case FrameKind.BACKEND:
                    self._backend = orjson.loads(body)
                case FrameKind.CHUNK:
                    yield body
                    if self._limit_each_piece:
                        self._deadline = monotonic() + LIMIT_S
                case FrameKind.RESULT:
                    self.result = orjson.loads(body)
                    return
                case FrameKind.ERROR:
                    failure: QueryFailure = orjson.loads(body)
                    if failure.get("too_large"):
                        raise ResultTooLarge
                    if failure.get("too_powerful"):
                        raise TooPowerful
                    raise SqlError(failure["message"], failure["sqlstate"])

    def _frame(self) -> tuple[FrameKind, bytes]:
        letter, length = HEAD.unpack(self._read(HEAD.size))
        return FrameKind(letter.decode()), self._read(length)

    def _read(self, count: int) -> bytes:
        """Return the next `count` bytes.

        Raise `QueryTimeout` after the deadline. Raise `ResultTooLarge` if the runner has no memory left.
        """
        stdout = self._process.stdout
        if stdout is None:
            raise RuntimeError("the runner was not started")
        received = bytearray()
        while len(received) < count:
            wait = self._deadline - monotonic()
            if wait <= 0 or not select.select([stdout], [], [], wait)[0]:
                raise QueryTimeout
            piece = os.read(stdout.fileno(), min(65536, count - len(received)))
            if not piece:
                # The runner always sends a result or a failure at the end, unless it has no memory left.
                raise ResultTooLarge if self._backend else Unavailable
            received += piece
        return bytes(received)

    def _end_backend(self) -> None:
        """Cancel the backend's statement, then terminate the backend if it continues.

        Nothing can be committed after that.
        """
        if self._backend is None:
            return
        which = (self._backend["pid"], self._backend["started"])
        with suppress(psycopg2.Error):
            connection = psycopg2.connect(**_parameters(settings.database_url))
            try:
                connection.autocommit = True
                with connection.cursor() as cursor:
                    for statement in (CANCEL, TERMINATE):
                        cursor.execute(statement, which)
                        with suppress(subprocess.TimeoutExpired):
                            self._process.wait(GRACE_S)
                            return
            finally:
                connection.close()


def _parameters(address: str) -> dict[str, Any]:
    url = sa.make_url(address)
    # Only `LIMIT_S` limits a statement. The role's own timeouts are turned off, because a download lasts as long as its
    # client needs.
    options = (
        "-c timezone=UTC -c statement_timeout=0 -c idle_in_transaction_session_timeout=60000"
        " -c standard_conforming_strings=on"
    )
    _, parameters = url.get_dialect()().create_connect_args(url)  # handles several hosts with ports
    return {
        **parameters,
        "connect_timeout": 3,
        "application_name": "sql-console",
        "options": options,
    }
