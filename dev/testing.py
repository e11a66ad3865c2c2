"""Temporary servers for the tests, separate from the servers and data of `make run`.

The pytest plugin `dev/pytest_servers.py` starts one set of servers for all processes of pytest-xdist. Each process has
its own PostgreSQL database and its own Redis database number.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg2
from psycopg2 import sql

from config import ROOT
from dev.servers import start_postgres, start_valkey
from dev.supervisor import Supervisor, ToolError, end_orphans

DATABASE_VARIABLE = "TEST_DATABASE_URL"
REDIS_VARIABLE = "TEST_REDIS_URL"

FOLDER_PREFIX = f"health-test-{os.geteuid()}-"

#: Number of a PostgreSQL advisory lock. A process takes this lock to create the template database. The number is
#: arbitrary.
TEMPLATE_LOCK = 7_263_544

#: First number of the advisory locks of test processes, and how many there are. Valkey has 64 databases, and tests of
#: this module use two of them.
NUMBER_LOCKS, NUMBERS = 7_263_600, 62


@contextlib.contextmanager
def temporary_servers(**settings: str) -> Iterator[dict[str, str]]:
    """Start PostgreSQL and Valkey in a temporary folder, and yield environment variables with their addresses.

    `settings` are parameters of PostgreSQL.
    """
    remove_abandoned_folders()
    folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
    folder.chmod(0o711)  # For root, PostgreSQL runs as the user `nobody`, which must be able to enter the folder.
    try:
        with (folder / "new").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # The lock file gets its final name after it is locked, so that no other process removes this folder.
            (folder / "new").rename(folder / "lock")
            with Supervisor(folder / "logs", register=folder / "processes") as supervisor:
                postgres = start_postgres(supervisor, folder / "postgres", durable=False, settings=settings)
                valkey = start_valkey(supervisor, folder / "valkey", durable=False)
                yield {DATABASE_VARIABLE: postgres.url(), REDIS_VARIABLE: valkey.url}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def own_number(server_url: str) -> Iterator[int]:
    """Yield a number that no other test process of this server has. Two runs then do not share a database.

    PostgreSQL releases the number if the process is killed.
    """
    with contextlib.closing(psycopg2.connect(server_url)) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        for number in range(NUMBERS):
            cursor.execute("select pg_try_advisory_lock(%s)", [NUMBER_LOCKS + number])
            if cursor.fetchone() == (True,):
                yield number
                return
    raise ToolError(f"{NUMBERS} test processes already use this server.")


def own_database(server_url: str, name: str, migrate: Callable[[str], None]) -> str:
    """Create the migrated, empty database `name` on the server, and return its address.

    The first process creates a template database and calls `migrate` with the template's address. Each process copies
    the template. If the migrations change, a new template is created.
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
        connection.close()  # The end of the connection releases the advisory lock.
    return with_path(server_url, name)


def empty_database(database_url: str) -> str:
    """Create an empty database on the server of `database_url`, and return its address.

    If a database with the same name exists, it is deleted first.
    """
    name = f"{name_of(database_url)}_empty"
    with contextlib.closing(psycopg2.connect(database_url)) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            _create(cursor, name, template="template0")
    return with_path(database_url, name)


def name_of(database_url: str) -> str:
    return urlsplit(database_url).path.removeprefix("/")


def own_redis(server_url: str, number: int) -> str:
    """Return the address of one of the server's 64 numbered databases."""
    return with_path(server_url, str(number))


# --- abandoned folders, and creation of databases ----------------------------------------------------------------


def remove_abandoned_folders() -> None:
    """Remove the folders of killed test runs. The lock file of such a folder is no longer locked."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"):
        with contextlib.suppress(OSError), (folder / "lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            end_orphans(folder / "processes")
            shutil.rmtree(folder, ignore_errors=True)


def fingerprint(folder: Path) -> str:
    digest = hashlib.sha256()
    for file in sorted([*folder.rglob("*.py"), *folder.rglob("*.sql")]):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _make_template(
    cursor: psycopg2.extensions.cursor, server_url: str, template: str, migrate: Callable[[str], None]
) -> None:
    """Migrate a database under a temporary name and rename it at the end, so that a template is always complete."""
    unfinished = f"{template}_unfinished"
    _create(cursor, unfinished)
    migrate(with_path(server_url, unfinished))
    cursor.execute(
        sql.SQL("alter database {} rename to {}").format(sql.Identifier(unfinished), sql.Identifier(template))
    )


def _create(cursor: psycopg2.extensions.cursor, name: str, *, template: str = "template1") -> None:
    database = sql.Identifier(name)
    # `DROP ... WITH (FORCE)` fails while autovacuum works on the database, because our role may not end autovacuum. A
    # DROP without FORCE ends autovacuum by itself, but it does not end the connections of our role. End these
    # connections first.
    cursor.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s and usename = current_user", [name]
    )
    cursor.execute(sql.SQL("drop database if exists {}").format(database))
    # For a database this small, `file_copy` is several times as fast as the default strategy.
    cursor.execute(
        sql.SQL("create database {} template {} strategy file_copy").format(database, sql.Identifier(template))
    )


def with_path(url: str, path: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{path}"))
