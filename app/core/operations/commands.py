"""Base classes of the operator commands.

A failed command prints one sentence instead of a traceback. `--help` works without settings.
"""

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
from app.core.operations.failures import OperatorError

#: Key in `app.extensions` for the reason why the settings could not be read.
PROBLEM = "settings_problem"


class Command(click.Command):
    """A command that prints an error as one sentence."""

    needs_settings = True

    def invoke(self, ctx: click.Context) -> Any:
        problem: str | None = current_app.extensions.get(PROBLEM)
        if self.needs_settings and problem is not None:
            raise click.ClickException(problem)
        with errors_as_sentences():
            return super().invoke(ctx)


class FreeCommand(Command):
    """A command that works without the service's settings."""

    needs_settings = False


class CommandGroup(AppGroup):
    command_class = Command


def command(name: str, *, cls: type[Command] = Command) -> Callable[[Callable[..., None]], click.Command]:
    """Create a command of the class `Command` or a subclass, instead of click's class."""
    return click.command(name, cls=cls)


@contextmanager
def errors_as_sentences() -> Iterator[None]:
    """If an operator can fix an error, replace it by click's error, which prints one line and exits with code 1."""
    try:
        yield
    except AppError as error:
        raise click.ClickException(error.message) from None
    except ValidationError as error:
        raise click.ClickException(ValidationFailed(error.messages_dict).message) from None
    except OperatorError as error:
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
    """Extensions of an application without settings. Access to a missing key raises an error with the settings problem.

    For example, `flask db` then prints this problem.
    """

    def __missing__(self, name: str) -> Any:
        raise click.ClickException(self[PROBLEM])


def without_settings(problem: Exception) -> Flask:
    """Return an application without settings, so that `flask --help` works.

    Commands that need settings print `problem`.
    """
    app = Flask("app")
    app.extensions = _NothingSet({PROBLEM: str(problem)})
    app.cli.add_command(migrations)
    return app
