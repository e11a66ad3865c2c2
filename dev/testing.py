"""Servers for the tests: thrown away with their data at the end, and never those of `make run`.

`python -m dev.testing [pytest arguments]` is `make test`: it starts them once and runs the whole suite on
them. Plain `pytest` works too: `dev/pytest_servers.py`, a plugin of `tests/conftest.py`, starts them when nobody
else has. Each process of pytest-xdist then takes a database and a Redis number of its own.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg2
import pytest
from psycopg2 import sql

from config import ROOT
from dev.family import Family, ToolError, end_orphans
from dev.servers import start_postgres, start_valkey

DATABASE_VARIABLE = "TEST_DATABASE_URL"
REDIS_VARIABLE = "TEST_REDIS_URL"

FOLDER_PREFIX = f"health-test-{os.geteuid()}-"

#: As a shell counts: exit codes above mean that a signal ended the process.
SIGNALLED = 128

#: Any number; whoever makes a template holds it.
TEMPLATE_LOCK = 7_263_544


@contextlib.contextmanager
def temporary_servers() -> Iterator[dict[str, str]]:
    """PostgreSQL and Valkey in a folder removed at the end; gives the variables that say where they are."""
    remove_abandoned_folders()
    folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
    folder.chmod(0o711)  # when we are root, PostgreSQL is not, and has to get in
    try:
        with (folder / "new").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            (folder / "new").rename(folder / "lock")  # nobody sees it before it is held
            with Family(folder / "logs", register=folder / "processes") as family:
                postgres = start_postgres(family, folder / "postgres", durable=False)
                valkey = start_valkey(family, folder / "valkey", durable=False)
                yield {DATABASE_VARIABLE: postgres.url(), REDIS_VARIABLE: valkey.url}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def own_database(server_url: str, name: str, migrate: Callable[[str], None]) -> str:
    """Make the empty but migrated database `name` on the server, and give its address.

    `migrate` is called with the address of a fresh database, by the first process that gets here; the others
    copy what it left, until the migrations change.
    """
    template = f"template_{fingerprint(ROOT / 'migrations')}"
    connection = psycopg2.connect(server_url)
    connection.autocommit = True
    try:
        with connection.cursor() as cursor:
            cursor.execute("select pg_advisory_lock(%s)", [TEMPLATE_LOCK])
            cursor.execute("select from pg_database where datname = %s", [template])
            if not cursor.rowcount:
                _make_template(cursor, server_url, template, migrate)
            _create(cursor, name, template=template)
    finally:
        connection.close()  # gives the lock back
    return with_path(server_url, name)


def own_redis(server_url: str, number: int) -> str:
    """Address of one of the server's 64 numbered stores."""
    return with_path(server_url, str(number))


# --- as `make test` -----------------------------------------------------------------------------------------


def main(arguments: Sequence[str]) -> int:
    """Run what may run side by side, then what starts real processes; 0 when something ran and all of it passed.

    The latter mostly waits, so three of it go at a time.
    """
    processes = str(max(2, min(8, os.cpu_count() or 2)))
    parallel = ["-n", processes, "-m", "not browser and not serial"]
    serial = ["-n", "3", "--dist", "worksteal", "-m", "serial and not browser"]
    if any(word.startswith("--cov") for word in arguments):
        serial.append("--cov-append")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    codes: list[int] = []
    try:
        with temporary_servers() as variables:
            for part in (parallel, serial):
                codes.append(_pytest([*part, *arguments], variables))
                if codes[-1] == pytest.ExitCode.INTERRUPTED or codes[-1] > SIGNALLED:
                    break
    except ToolError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return int(pytest.ExitCode.INTERRUPTED)
    return verdict(codes)


def verdict(codes: Sequence[int]) -> int:
    """The worst of pytest's exit codes; a part without tests is fine as long as another had some."""
    nothing_ran = int(pytest.ExitCode.NO_TESTS_COLLECTED)
    return max((code for code in codes if code != nothing_ran), default=nothing_ran)


def _pytest(arguments: Sequence[str], variables: dict[str, str]) -> int:
    """Run pytest and outlive it, to stop the servers: a signal ends it, not us."""
    command = [sys.executable, "-m", "pytest", *arguments]
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **variables})
    # A Ctrl-C reaches pytest from the terminal. A SIGTERM is ours alone, and pytest tidies up after an
    # interrupt.
    interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)
    terminate = signal.signal(signal.SIGTERM, lambda *_: process.send_signal(signal.SIGINT))
    try:
        code = process.wait()
    finally:
        signal.signal(signal.SIGINT, interrupt)
        signal.signal(signal.SIGTERM, terminate)
    return code if code >= 0 else SIGNALLED - code


# --- parts --------------------------------------------------------------------------------------------------


def remove_abandoned_folders() -> None:
    """Of test runs that were killed: nobody holds their lock any more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"):
        with contextlib.suppress(OSError), (folder / "lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            end_orphans(folder / "processes")
            shutil.rmtree(folder, ignore_errors=True)


def fingerprint(folder: Path) -> str:
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _make_template(
    cursor: psycopg2.extensions.cursor, server_url: str, template: str, migrate: Callable[[str], None]
) -> None:
    """Migrate under another name first: a template is whole, or it is not there."""
    unfinished = f"{template}_unfinished"
    _create(cursor, unfinished)
    migrate(with_path(server_url, unfinished))
    cursor.execute(
        sql.SQL("alter database {} rename to {}").format(sql.Identifier(unfinished), sql.Identifier(template))
    )


def _create(cursor: psycopg2.extensions.cursor, name: str, *, template: str = "template1") -> None:
    database = sql.Identifier(name)
    cursor.execute(sql.SQL("drop database if exists {} with (force)").format(database))
    # By file copy, which costs a fraction of the other way for a database this small.
    cursor.execute(
        sql.SQL("create database {} template {} strategy file_copy").format(database, sql.Identifier(template))
    )


def with_path(url: str, path: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{path}"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
