"""The application of `make run`. It is the production application with more pages and commands, for developers.

`make run` serves the application as `dev.wsgi`. `flask --app dev.wsgi demo` adds demo data. In production the package
`dev` is never imported.
"""

from __future__ import annotations

import click
from flask import Flask

from app import create_app
from app.core.database.session import unit_of_work
from config import Config
from dev import demo, pages


def create_development_app(config: Config) -> Flask:
    """Return the application with the developers' pages below `/dev`. Raise `ValueError` outside of development."""
    if not config.is_development:
        raise ValueError("this is for development: set ENVIRONMENT=development")
    app = create_app(config)
    pages.init_app(app)
    app.cli.add_command(demo_command)
    return app


@click.command("demo")
def demo_command() -> None:
    """Add demo people and content to the database. A second run changes nothing."""
    with unit_of_work():
        click.echo(demo.fill())
