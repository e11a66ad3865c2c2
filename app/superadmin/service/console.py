"""The SQL console: each request in a process and on a connection of its own, watched from outside.

The statement can change every setting of its session and take every byte that its process may have; the time limit
is kept here, by cancelling and then terminating its backend from another connection, and by killing the process.
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

from app.core.bulkhead import Bulkhead
from app.core.errors import BadRequest, TooManyRequests, Unavailable
from app.core.exports.csv import MIMETYPE
from app.core.exports.streaming import Chunks, Download, begun
from app.core.settings import settings
from app.identity import audit
from app.identity.sessions import Caller
from app.superadmin.runner.frames import HEAD, Kind
from config import ROOT

#: From the first statement's begin to the commit; of an export, from one piece to the next.
LIMIT_S = 15.0
#: After a cancellation, before the backend is terminated.
GRACE_S = 1.0

CANCEL = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE pid = %s AND backend_start = %s"
TERMINATE = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s AND backend_start = %s"

RUNS = Bulkhead(
    2,
    wait_s=5,
    refusal=lambda: TooManyRequests("Konsol SQL sedang dipakai. Silakan coba sebentar lagi.", retry_after=15),
)


class SqlError(BadRequest):
    """The database's own words, the only ones that ever leave the service."""

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


def query(sql: str, by: Caller) -> dict[str, Any]:
    """Run it, and give its last statement's result: at most 1,000 rows."""
    audit.record_now(by, audit.Action.SQL, "query", query=sql)
    started = monotonic()
    with RUNS.slot(), Run(sql, as_csv=False) as run:
        for _ in run.chunks():
            raise RuntimeError("CSV that nobody asked for")
    return {**run.result, "duration_ms": round((monotonic() - started) * 1000)}


def export(sql: str, by: Caller) -> Download:
    """Run it, and stream all rows of its last statement as CSV."""
    audit.record_now(by, audit.Action.SQL, "query/export", query=sql)
    return Download("query.csv", MIMETYPE, begun(_exported(sql)))


def _exported(sql: str) -> Chunks:
    with RUNS.slot(), Run(sql, as_csv=True) as run:
        yield from run.chunks()


class Run:
    """One runner process, from its start to its certain end."""

    def __init__(self, sql: str, *, as_csv: bool) -> None:
        self.result: dict[str, Any] = {}
        self._limit_each_piece = as_csv
        self._url = sa.make_url(settings.superadmin_database_url or settings.database_url)
        self._own_url = sa.make_url(settings.database_url)
        self._backend: dict[str, Any] | None = None
        self._request = {
            "query": sql,
            "csv": as_csv,
            "read_only": settings.superadmin_sql_mode == "ro",
            "connection": _parameters(self._url),
        }

    def __enter__(self) -> Run:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "app.superadmin.runner"],
            cwd=ROOT,
            env={},  # no secret of the service is in the process
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
        """Pieces of CSV as they come; when they end, everything is committed and `result` is there."""
        with suppress(BrokenPipeError):
            stdin = self._process.stdin
            if stdin:
                stdin.write(json.dumps(self._request).encode())
                stdin.close()
        self._deadline = monotonic() + LIMIT_S
        while True:
            kind, body = self._frame()
            match kind:
                case Kind.BACKEND:
                    self._backend = orjson.loads(body)
                case Kind.CHUNK:
                    yield body
                    if self._limit_each_piece:
                        self._deadline = monotonic() + LIMIT_S
                case Kind.RESULT:
                    self.result = orjson.loads(body)
                    return
                case Kind.ERROR:
                    error = orjson.loads(body)
                    raise ResultTooLarge if error.get("too_large") else SqlError(error["message"], error["sqlstate"])

    def _frame(self) -> tuple[Kind, bytes]:
        letter, length = HEAD.unpack(self._read(HEAD.size))
        return Kind(letter.decode()), self._read(length)

    def _read(self, count: int) -> bytes:
        """So many bytes; `QueryTimeout` when they take too long, `ResultTooLarge` when the process died of it."""
        stdout = self._process.stdout
        if stdout is None:
            raise RuntimeError("the runner was not started")
        found = bytearray()
        while len(found) < count:
            wait = self._deadline - monotonic()
            if wait <= 0 or not select.select([stdout], [], [], wait)[0]:
                raise QueryTimeout
            piece = os.read(stdout.fileno(), min(65536, count - len(found)))
            if not piece:
                # It never ends without a last word, unless there was no memory left to say it.
                raise ResultTooLarge if self._backend else Unavailable
            found += piece
        return bytes(found)

    def _end_backend(self) -> None:
        """Cancel what the backend does and, if it goes on, terminate it: nothing of it is committed any more."""
        if self._backend is None:
            return
        which = (self._backend["pid"], self._backend["started"])
        with suppress(psycopg2.Error):
            connection = psycopg2.connect(**_parameters(self._own_url))
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


def _parameters(url: sa.URL) -> dict[str, Any]:
    """How libpq calls the parts of an address."""
    options = "-c timezone=UTC -c idle_in_transaction_session_timeout=60000 -c standard_conforming_strings=on"
    return {
        **dict(url.query),
        **url.translate_connect_args(username="user", database="dbname"),
        "connect_timeout": 3,
        "application_name": "sql-console",
        "options": options,
    }
