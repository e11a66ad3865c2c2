"""`flask db downgrade` removes data: it says what before it does, and in production it needs `--yes`."""

from __future__ import annotations

import io
import re
from typing import Any

import click
import sqlalchemy as sa
from alembic import command
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from flask import current_app, g
from flask_migrate import cli as migrate_cli
from sqlalchemy.exc import OperationalError

from app.core.database.engines import UNLIMITED, direct
from app.core.settings import settings

#: What a downgrade's SQL removes for good: a table, or a column of one.
REMOVAL = re.compile(
    r"^\s*(?:DROP TABLE (?:IF EXISTS )?(\w+)|ALTER TABLE (\w+) DROP COLUMN (?:IF EXISTS )?(\w+))", re.MULTILINE
)


def init_app() -> None:
    """Put the warning before flask-migrate's own command.

    It is changed rather than replaced: click has looked it up before there is an application that could bring another.
    """
    downgrade: Any = migrate_cli.downgrade
    if any(parameter.name == "yes" for parameter in downgrade.params):
        return
    downgrade.params.append(click.Option(["--yes"], is_flag=True, help="Needed in production."))
    proceed = downgrade.callback

    def warn_first(*, yes: bool, **options: Any) -> None:
        if not options["sql"]:
            _warn(options["revision"], options["directory"] or g.get("directory"))
            if settings.is_production and not yes:
                raise click.ClickException("refused in production without --yes; `flask backup` before it")
        proceed(**options)

    downgrade.callback = warn_first


def removals(revision: str, directory: str | None = None) -> list[str]:
    """The tables and columns that a downgrade to `revision` (or `-1`, `-2`, ...) removes, with their rows."""
    config = current_app.extensions["migrate"].migrate.get_config(directory)
    with direct(UNLIMITED).connect() as connection:
        current = MigrationContext.configure(connection).get_current_revision()
        if current is None:
            return []
        config.output_buffer = io.StringIO()
        command.downgrade(config, f"{current}:{_target(config, current, revision)}", sql=True)  # written, not run
        lines = []
        for table, of_table, column in REMOVAL.findall(config.output_buffer.getvalue()):
            if not sa.inspect(connection).has_table(table or of_table):
                continue  # the downgrade has made it itself
            count = sa.select(sa.func.count()).select_from(sa.table(table or of_table))
            rows = connection.execute(count).scalar_one()
            lines.append(f"table {table}: {rows} rows" if table else f"column {of_table}.{column}: {rows} rows")
    return lines


def _warn(revision: str, directory: str | None) -> None:
    try:
        lines = removals(revision, directory)
    except OperationalError as error:
        raise click.ClickException(f"The database: {str(error.orig).strip().splitlines()[0]}") from None
    except CommandError as error:  # no such revision
        raise click.ClickException(str(error)) from None
    click.echo("\n".join(["This removes for good:", *(f"  {line}" for line in lines)] if lines else ["No data goes."]))


def _target(config: Any, current: str, revision: str) -> str:
    """The revision that `-2` means; any other stands for itself."""
    if not re.fullmatch(r"-\d+", revision):
        return revision
    below = [script.revision for script in ScriptDirectory.from_config(config).iterate_revisions(current, "base")]
    return [*below, "base"][min(int(revision[1:]), len(below))]
