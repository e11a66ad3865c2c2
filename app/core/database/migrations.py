"""Which migrations the database has, and which this code needs."""

from __future__ import annotations

from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from flask import current_app

from app.core.database.session import autocommit


def missing() -> list[str]:
    """The heads that the database has not reached yet; none when it has them, or is ahead of this code.

    A database is ahead when its revision is unknown here: a newer version of the service has migrated it. Migrations
    only add, so older code goes on, as it has to while a new version is rolled out.
    """
    with autocommit() as connection:
        current = set(MigrationContext.configure(connection).get_current_heads())
    scripts = ScriptDirectory(current_app.extensions["migrate"].directory)
    needed = set(scripts.get_heads())
    if current and not any(_is_known(scripts, revision) for revision in current):
        return []
    return sorted(needed - current)


def _is_known(scripts: ScriptDirectory, revision: str) -> bool:
    try:
        return scripts.get_revision(revision) is not None
    except CommandError:
        return False


def is_declared(name: str | None, kind: str, _parents: object) -> bool:
    """Whether Alembic compares something with the models: not the partitions, which are made while the service runs."""
    return not (kind == "table" and name is not None and name.startswith("activity_logs_"))
