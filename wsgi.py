"""The WSGI application for gunicorn and for the `flask` command."""

import os

import click

if click.get_current_context(silent=True) is not None:
    # Commands update no metrics. Without gunicorn the folder may not exist, and prometheus-client would fail.
    os.environ.pop("PROMETHEUS_MULTIPROC_DIR", None)  # noqa: TID251  # prometheus-client reads it

from app import cli, create_app
from app.core.operations.commands import without_settings
from app.core.operations.startup import loading
from config import Config, ConfigError

with loading():
    try:
        app = create_app(Config.from_env())
    except ConfigError as error:
        if click.get_current_context(silent=True) is None:
            raise
        app = without_settings(error)
        cli.init_app(app)
