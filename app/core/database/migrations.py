"""Which migrations the database has, which this code needs, and how a migration fills a large table."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from flask import current_app

from app.core.database.session import autocommit

#: The revision of the first migration here. Those before it made the same schema step by step.
FIRST = "0043"
TOO_OLD = (
    "The database is at revision {revision}, older than the first migration of this version. Run `flask db upgrade`"
    " with the last version that has migrations/versions/0042_room_to_count.py, then with this one."
)

#: Rows that one transaction of a migration fills.
FILL_BATCH = 1000


def missing() -> list[str]:
    """Return the heads that the database has not reached yet. There are none if it has them, or is ahead of this code.

    A database is ahead if a newer version has migrated it. Migrations only add, so older code goes on, as it has to
    while a new version is rolled out.
    """
    with autocommit() as connection:
        current = MigrationContext.configure(connection).get_current_heads()
    needed = ScriptDirectory(current_app.extensions["migrate"].directory).get_heads()
    return sorted(set(needed) - set(current)) if max(current, default="") < max(needed) else []


def fill(statement: str) -> None:
    """Run an UPDATE of at most `:batch` rows again and again, each time in its own transaction, until it changes none.

    It names its rows by `WHERE id IN (SELECT id ... LIMIT :batch FOR NO KEY UPDATE SKIP LOCKED)`, without those that
    are filled. So nobody waits for more than one batch, and a migration that is killed goes on where it stopped.
    """
    with op.get_context().autocommit_block():
        while op.get_bind().execute(sa.text(statement), {"batch": FILL_BATCH}).rowcount:
            pass


def is_declared(name: str | None, kind: str, _parents: object) -> bool:
    """Whether Alembic compares something with the models: not the partitions, which are made while the service runs."""
    return not (kind == "table" and name is not None and name.startswith("activity_logs_"))
