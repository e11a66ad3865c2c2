"""Database session of the SQL console: a fresh connection for each text, as the console's role.

A text can change every setting of its session, such as the statement timeout. It can also return more than the memory
holds. The connection is therefore asynchronous: this module waits for each piece of an answer, so it can stop a
statement that takes too long or answers too much.
"""

from __future__ import annotations

import fcntl
import select
import struct
import termios
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from time import monotonic
from typing import Any

import psycopg2
import sqlalchemy as sa
from psycopg2 import extensions

from app.core.errors import AppError, BadRequest, Unavailable
from app.core.settings import settings
from app.core.slots import Slots

#: Maximum seconds of a text. In an export, maximum seconds of each of its pieces.
LIMIT_S = 15.0
#: Seconds between cancelling a statement and terminating its backend (server process).
GRACE_S = 1.0
CONNECT_S = 3.0

#: Maximum bytes of one answer, counted as they wait in the socket. More may arrive while libpq reads, so the memory can
#: grow by several times this number.
ANSWER_BYTES = 8 * 1024 * 1024

#: Condition that makes PostgreSQL fail before it sends a row above 8 MB. Such a row would be in memory as a whole.
HUGE_ROW = "a row of more than 8 MB"
NO_HUGE_ROW = f"""WHERE CASE WHEN pg_catalog.pg_column_size(the_row) OPERATOR(pg_catalog.>) {ANSWER_BYTES}
THEN pg_catalog.format('{HUGE_ROW}: %s bytes', pg_catalog.pg_column_size(the_row))::pg_catalog.bool ELSE true END"""

RUNS = Slots(2, wait_s=5, message="Konsol SQL sedang dipakai. Silakan coba lagi.")

#: Query that keeps errors out of the server's log, if the role may set `log_min_messages`. An error may quote personal
#: data from a row. Only the response to the caller may contain such data.
KEEP_OUT_OF_THE_LOG = """
SELECT pg_catalog.set_config('log_min_messages', 'fatal', false)
WHERE pg_catalog.has_parameter_privilege('log_min_messages', 'SET')
"""

#: Query that returns whether the role can run programs or use files on the server, or can become a role that can. Every
#: name is qualified, because the role can set the search path.
TOO_POWERFUL = """
SELECT EXISTS (
    SELECT FROM pg_catalog.pg_roles
    WHERE pg_catalog.pg_has_role(session_user, oid, 'MEMBER') AND (
        rolsuper OR rolcreaterole OR rolname OPERATOR(pg_catalog.=) ANY (
            '{pg_execute_server_program, pg_read_server_files, pg_write_server_files}'
        )
    )
)
"""

#: The timeout ends a statement even if this process ends first. The text may change it.
OPTIONS = "-c timezone=UTC -c statement_timeout=20s -c idle_in_transaction_session_timeout=60s"

#: Makes the driver return every value as PostgreSQL's text.
PLAIN = extensions.new_type(tuple(extensions.string_types), "PLAIN", lambda value, _: value)

CONNECTION_FAILURE = "08006"
SYNTAX_ERROR = "42601"
UNTRANSLATABLE = "22P05"


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
    code = "superuser_role"
    message = (
        "Konsol SQL tidak dapat dipakai: peran basis datanya dapat menjalankan program di server basis data."
        " Ini berlaku untuk superuser, CREATEROLE, dan anggota peran semacam itu."
        " Operator perlu memberi konsol peran sendiri dengan deploy/sql-role.sql,"
        " atau mencabut haknya, misalnya dengan `ALTER ROLE ... NOCREATEROLE`."
    )


class Session:
    """A connection with a deadline. `execute` may run in any thread."""

    def __init__(self, parameters: dict[str, Any], *, limits_each_statement: bool) -> None:
        self._parameters, self._limits_each_statement = parameters, limits_each_statement
        self._deadline, self._received = monotonic() + CONNECT_S, 0
        try:
            self._connection = psycopg2.connect(**parameters, async_=True)
            self._wait()
        except (psycopg2.Error, QueryTimeout):
            raise Unavailable from None
        extensions.register_type(PLAIN, self._connection)
        self._deadline = monotonic() + LIMIT_S

    def execute(self, sql: str) -> extensions.cursor:
        """Run statements and return a cursor with the answer to the last one. Stop them at the limits."""
        if self._limits_each_statement:
            self._deadline = monotonic() + LIMIT_S
        self._received = 0
        cursor: extensions.cursor = self._connection.cursor()
        cursor.execute(sql)
        try:
            self._wait()
        except AppError:
            with suppress(psycopg2.Error):
                self._end()
            raise
        return cursor

    def close(self) -> None:
        """Close the connection. PostgreSQL then rolls back what was not committed."""
        self._connection.close()

    def _wait(self) -> None:
        """Wait for the answer. Raise `QueryTimeout` after the deadline, and `ResultTooLarge` if it is too large."""
        poller, waiting = select.poll(), bytearray(4)
        while (state := self._connection.poll()) != extensions.POLL_OK:
            socket = self._connection.fileno()
            poller.register(socket, select.POLLOUT if state == extensions.POLL_WRITE else select.POLLIN)
            if not poller.poll(max(0, self._deadline - monotonic()) * 1000):
                raise QueryTimeout
            poller.unregister(socket)  # libpq may open another socket while it connects
            fcntl.ioctl(socket, termios.FIONREAD, waiting)
            self._received += struct.unpack("i", waiting)[0]
            if self._received > ANSWER_BYTES:
                raise ResultTooLarge

    def _end(self) -> None:
        """Cancel the statement. If it goes on, or still sends too much, terminate its backend."""
        self._connection.cancel()
        self._deadline = monotonic() + GRACE_S
        with suppress(AppError):
            self._wait()
            return
        with closing(psycopg2.connect(**self._parameters)) as other, other.cursor() as cursor:
            cursor.execute("SELECT pg_catalog.pg_terminate_backend(%s)", [self._connection.info.backend_pid])


@contextmanager
def opened(*, limits_each_statement: bool = False) -> Iterator[Session]:
    """Open a session in a transaction, and commit at the end of the block."""
    is_read_only = settings.superadmin_sql_mode == "ro"
    address = sa.make_url(settings.superadmin_database_url or settings.database_url)
    parameters = {
        **address.get_dialect()().create_connect_args(address)[1],  # handles several hosts with ports
        "application_name": "sql-console",
        "client_encoding": "UTF8",
        # Limits of the connections that cancel and terminate, if the database host hangs.
        "connect_timeout": 3,
        "tcp_user_timeout": 10000,
        "options": f"{OPTIONS} -c default_transaction_read_only=on" if is_read_only else OPTIONS,
    }
    with RUNS.slot(), closing(Session(parameters, limits_each_statement=limits_each_statement)) as session:
        try:
            session.execute(KEEP_OUT_OF_THE_LOG)
            if session.execute(TOO_POWERFUL).fetchone() != ("f",):
                raise TooPowerful
            session.execute("BEGIN")
            yield session
            session.execute("COMMIT")
        except psycopg2.Error as error:
            raise ResultTooLarge if HUGE_ROW in str(error) else SqlError(*_reason(error)) from None
        except UnicodeError:
            raise SqlError("Teks kueri atau hasilnya tidak dalam UTF-8.", UNTRANSLATABLE) from None


def _reason(error: psycopg2.Error) -> tuple[str, str]:
    """Return PostgreSQL's own message and SQLSTATE. The driver's own errors have no SQLSTATE."""
    message = error.diag.message_primary or str(error).strip().partition("\n")[0]
    is_lost = isinstance(error, (psycopg2.OperationalError, psycopg2.InterfaceError))
    return message, error.pgcode or (CONNECTION_FAILURE if is_lost else SYNTAX_ERROR)
