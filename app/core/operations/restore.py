"""Restore of a backup that `deploy/backup` made: the database, the pictures and the tombstones.

A tombstone is the record that a user was erased. A restore reads the tombstones of all backups in the same parent
folder, because later backups contain more tombstones.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from io import BytesIO
from pathlib import Path

import sqlalchemy as sa
from flask_migrate import upgrade
from psycopg2.extensions import make_dsn

from app.core.database import migrations
from app.core.database.engines import UNLIMITED, direct
from app.core.media import pictures, storage
from app.core.media.storage import Area
from app.core.operations.failures import OperatorError
from app.core.settings import settings
from config import environment

DUMP = "database.dump"
MEDIA = "media"

_REVISION = re.compile(r"^COPY public\.alembic_version .*\n(\w+)$", re.MULTILINE)


def restore(source: Path) -> str:
    """Restore the backup in `source` into an empty database and the picture store. Bring the schema to head.

    Every reason for a refusal is checked before the first write.
    """
    dump = source / DUMP
    if not dump.is_file():
        raise OperatorError(f"{source} is no finished backup: {DUMP} is not there")
    tombstones = storage.area(Area.TOMBSTONES)
    next(tombstones.names(), None)  # a store that cannot be read would bring erased people back
    with direct(UNLIMITED).connect() as connection:
        tables = sa.inspect(connection).get_table_names()
    if tables:
        raise OperatorError(f"the database is not empty ({len(tables)} tables): restore into a new one")
    found = _REVISION.search(_pg_restore("--data-only", "--table=alembic_version", "--file=-", str(dump)))
    if found is None or not migrations.is_known(found[1]):
        raise OperatorError(f"the backup is of revision {found and found[1]}, which this version does not know")
    # Restore tombstones before the dump. If the restore is killed later, the service still erases these people again.
    for path in source.absolute().parent.glob(f"*/{MEDIA}/{Area.TOMBSTONES}/??/*"):
        tombstones.put(path.name, BytesIO(path.read_bytes()), "text/plain")
    url = sa.make_url(settings.database_url)
    # this dialect function also handles several hosts with ports
    _, parameters = url.get_dialect()().create_connect_args(url)
    password = parameters.pop("password", None)
    to = f"--dbname={make_dsn(**parameters)}"
    _pg_restore(to, "--no-owner", "--no-acl", "--exit-on-error", "--single-transaction", str(dump), password=password)
    upgrade()
    count = 0
    for path in (source / MEDIA).glob("??/*"):
        pictures.store().put(path.name, BytesIO(path.read_bytes()), pictures.CONTENT_TYPE)
        count += 1
    return f"Restored the database of revision {found[1]}, now at head, and {count} pictures."


def _pg_restore(*arguments: str, password: str | None = None) -> str:
    """Run `pg_restore` and return its output."""
    program = shutil.which("pg_restore")
    if program is None:
        raise OperatorError("pg_restore is not in PATH: install PostgreSQL's client programs, as new as the server")
    env = {**environment(), **({"PGPASSWORD": password} if password else {})}
    # S603: the program is PostgreSQL's, the arguments are ours
    done = subprocess.run([program, *arguments], env=env, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise OperatorError(f"pg_restore failed: {done.stderr.strip()[-500:]}")
    return done.stdout
