"""The application as developers run it: the real one, with the pages and commands that only they need beside it.

`make run` serves it by `dev.wsgi`, and `flask --app dev.wsgi demo` fills it. Nothing of it is there in production.
"""

from __future__ import annotations

import click
from flask import Flask

from app import create_app
from app.core.database.session import unit_of_work
from config import Config
from dev import demo, pages


def create_development_app(config: Config) -> Flask:
    """The whole application with the pages below `/dev`; `ValueError` outside of development."""
    if not config.is_development:
        raise ValueError("this is for development: set ENVIRONMENT=development")
    app = create_app(config)
    pages.init_app(app)
    app.cli.add_command(demo_command)
    return app


@click.command("demo")
def demo_command() -> None:
    """Fill the database with demo people and content. Safe to repeat."""
    with unit_of_work():
        click.echo(demo.fill())
