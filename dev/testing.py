"""Servers for the tests: thrown away with their data at the end, and never those of `make run`.

`dev/pytest_servers.py`, a plugin of `tests/conftest.py`, starts them once for all processes of pytest-xdist, each of
which takes a database and a Redis number of its own.
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
from dev.supervisor import Supervisor, end_orphans

DATABASE_VARIABLE = "TEST_DATABASE_URL"
REDIS_VARIABLE = "TEST_REDIS_URL"

FOLDER_PREFIX = f"health-test-{os.geteuid()}-"

#: Any number; whoever makes a template holds it.
TEMPLATE_LOCK = 7_263_544


@contextlib.contextmanager
def temporary_servers(**settings: str) -> Iterator[dict[str, str]]:
    """PostgreSQL and Valkey in a folder removed at the end; gives the variables that say where they are.

    `settings`: PostgreSQL's parameters.
    """
    remove_abandoned_folders()
    folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
    folder.chmod(0o711)  # when we are root, PostgreSQL is not, and has to get in
    try:
        with (folder / "new").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            (folder / "new").rename(folder / "lock")  # nobody sees it before it is held
            with Supervisor(folder / "logs", register=folder / "processes") as supervisor:
                postgres = start_postgres(supervisor, folder / "postgres", durable=False, settings=settings)
                valkey = start_valkey(supervisor, folder / "valkey", durable=False)
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


def empty_database(database_url: str) -> str:
    """Make an empty database of the same process, in place of one that is there, and give its address."""
    name = f"{name_of(database_url)}_empty"
    with contextlib.closing(psycopg2.connect(database_url)) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            _create(cursor, name, template="template0")
    return with_path(database_url, name)


def name_of(database_url: str) -> str:
    return urlsplit(database_url).path.removeprefix("/")


def own_redis(server_url: str, number: int) -> str:
    """Address of one of the server's 64 numbered stores."""
    return with_path(server_url, str(number))


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
    # `WITH (FORCE)` fails where autovacuum is at it, which is no role of ours. A plain DROP sends that away by itself.
    cursor.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s and usename = current_user", [name]
    )
    cursor.execute(sql.SQL("drop database if exists {}").format(database))
    # By file copy, which costs a fraction of the other way for a database this small.
    cursor.execute(
        sql.SQL("create database {} template {} strategy file_copy").format(database, sql.Identifier(template))
    )


def with_path(url: str, path: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{path}"))
