"""Check for missing migrations, and helpers for writing migrations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from flask import current_app

from app.core.database.session import db

#: The first Alembic revision in this repository. Earlier revisions created the same tables in several steps.
FIRST = "0043"
TOO_OLD = (
    "The database is at revision {revision}, older than the first migration of this version. Run `flask db upgrade`"
    " with the last version that has migrations/versions/0042_room_to_count.py, then with this one."
)

#: Maximum rows that `fill` updates in one transaction.
FILL_BATCH = 1000


def missing() -> list[str]:
    """Return the newest Alembic revisions of this code that the database does not have.

    Return an empty list if a newer version of the code has migrated the database. Migrations only add tables and
    columns, so older code still works during a rollout.
    """
    current = MigrationContext.configure(db.session.connection()).get_current_heads()
    needed = ScriptDirectory(current_app.extensions["migrate"].directory).get_heads()
    return sorted(set(needed) - set(current)) if max(current, default="") < max(needed) else []


def is_known(revision: str) -> bool:
    """Return whether this code has the Alembic revision."""
    scripts = ScriptDirectory(current_app.extensions["migrate"].directory).walk_revisions()
    return revision in {script.revision for script in scripts}


def fill(statement: str) -> None:
    """Repeat an UPDATE of at most `:batch` rows, each time in its own transaction, until it changes no row.

    The statement selects unfilled rows by `WHERE id IN (SELECT id ... LIMIT :batch FOR NO KEY UPDATE SKIP LOCKED)`.
    Other transactions wait for one batch at most. A killed migration resumes where it stopped.
    """
    with op.get_context().autocommit_block():
        while op.get_bind().execute(sa.text(statement), {"batch": FILL_BATCH}).rowcount:
            pass
