"""Comparison of the database's Alembic revision with those of this code.

A revision is a number of four digits. Later ones are higher, and only add tables and columns.
"""

from __future__ import annotations

from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from flask import current_app

from app.core.database.session import db

TOO_OLD = (
    "The database is at revision {revision}, older than the first one of this version, {first}. Begin with an empty"
    " database."
)


class OlderDatabaseError(Exception):
    """The database needs migrations. The message says what to do."""


def check() -> None:
    """Raise `OlderDatabaseError` if the database lacks the newest revision of this code.

    A newer version of the code may have migrated the database. Older code still works on it during a rollout.
    """
    revision = MigrationContext.configure(db.session.connection()).get_current_revision()
    if sentence := too_old(revision):
        raise OlderDatabaseError(sentence)
    if (revision or "") < max(_scripts().get_heads()):
        raise OlderDatabaseError("The database lacks migrations. Run `flask db upgrade`.")


def too_old(revision: str | None) -> str | None:
    """Return a sentence if this code cannot upgrade a database at this revision. None is an empty database."""
    (first,) = _scripts().get_bases()
    return TOO_OLD.format(revision=revision, first=first) if revision is not None and revision < first else None


def is_known(revision: str) -> bool:
    """Return whether this code has the Alembic revision."""
    return revision in {script.revision for script in _scripts().walk_revisions()}


def _scripts() -> ScriptDirectory:
    return ScriptDirectory(current_app.extensions["migrate"].directory)
