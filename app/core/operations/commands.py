"""Commands for operators: what goes wrong is a sentence, never a traceback, and help needs no settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click
from flask import Flask, current_app
from flask.cli import AppGroup
from flask_migrate.cli import db as migrations
from marshmallow import ValidationError
from redis.exceptions import RedisError
from sqlalchemy.exc import DBAPIError

from app.core.errors import AppError, ValidationFailed
from app.core.operations.backup import BackupError

#: Where an application without settings keeps the reason.
PROBLEM = "settings_problem"


class Command(click.Command):
    """A command that says in a sentence why it could not do its work."""

    needs_settings = True

    def invoke(self, ctx: click.Context) -> Any:
        problem: str | None = current_app.extensions.get(PROBLEM)
        if self.needs_settings and problem is not None:
            raise click.ClickException(problem)
        with errors_as_sentences():
            return super().invoke(ctx)


class FreeCommand(Command):
    """A command that works before anything is set."""

    needs_settings = False


class CommandGroup(AppGroup):
    command_class = Command


def command(name: str, *, cls: type[Command] = Command) -> Callable[[Callable[..., None]], click.Command]:
    """Like `click.command`, for a command of ours."""
    return click.command(name, cls=cls)


@contextmanager
def errors_as_sentences() -> Iterator[None]:
    """Turn what an operator can mend into click's own error: one line, exit code 1."""
    try:
        yield
    except AppError as error:
        raise click.ClickException(error.message) from None
    except ValidationError as error:
        raise click.ClickException(ValidationFailed(error.messages_dict).message) from None
    except BackupError as error:
        raise click.ClickException(str(error)) from None
    except DBAPIError as error:
        raise click.ClickException(f"The database: {first_line(error.orig)}") from None
    except RedisError as error:
        raise click.ClickException(f"Redis: {first_line(error)}") from None
    except OSError as error:
        raise click.ClickException(f"{error.filename or 'A file'}: {error.strerror or error}") from None


def first_line(error: BaseException | None) -> str:
    return str(error).strip().partition("\n")[0]


class _NothingSet(dict[str, Any]):
    """The extensions of an application without settings: whoever needs one, as `flask db` does, is told why."""

    def __missing__(self, name: str) -> Any:
        raise click.ClickException(self[PROBLEM])


def without_settings(problem: Exception) -> Flask:
    """What `flask` gets when the settings are missing or wrong: its commands, each of which says so if it minds."""
    app = Flask("app")
    app.extensions = _NothingSet({PROBLEM: str(problem)})
    app.cli.add_command(migrations)
    return app
