"""Check for missing migrations, and helpers for migrations: batched updates and the table filter of Alembic."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from flask import current_app

from app.core.database.session import autocommit

#: First revision in this repository. Earlier revisions built the same schema step by step.
FIRST = "0043"
TOO_OLD = (
    "The database is at revision {revision}, older than the first migration of this version. Run `flask db upgrade`"
    " with the last version that has migrations/versions/0042_room_to_count.py, then with this one."
)

#: Maximum rows that one transaction of `fill` updates.
FILL_BATCH = 1000


def missing() -> list[str]:
    """Return the heads that the database has not reached. Return an empty list if the database is ahead of this code.

    A newer version may have migrated the database. Migrations only add, so older code still works during a rollout.
    """
    with autocommit() as connection:
        current = MigrationContext.configure(connection).get_current_heads()
    needed = ScriptDirectory(current_app.extensions["migrate"].directory).get_heads()
    return sorted(set(needed) - set(current)) if max(current, default="") < max(needed) else []


def fill(statement: str) -> None:
    """Repeat an UPDATE of at most `:batch` rows, each time in its own transaction, until it changes no row.

    The statement selects unfilled rows by `WHERE id IN (SELECT id ... LIMIT :batch FOR NO KEY UPDATE SKIP LOCKED)`.
    So other transactions wait for one batch at most, and a killed migration resumes where it stopped.
    """
    with op.get_context().autocommit_block():
        while op.get_bind().execute(sa.text(statement), {"batch": FILL_BATCH}).rowcount:
            pass


def is_declared(name: str | None, kind: str, _parents: object) -> bool:
    """Return whether Alembic compares this object with the models. Exclude partitions, which the service creates."""
    return not (kind == "table" and name is not None and name.startswith("activity_logs_"))
