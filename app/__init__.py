"""The health-support service. Importing this package connects to nothing; `create_app` puts the parts together."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the runner of the SQL console is a part of this package, and has no use for a web framework
    from flask import Flask

    from config import Config


@contextmanager
def loading() -> Iterator[None]:
    """Around the start of a process: what it loads stays for good, so the garbage collector need not look at it.

    It starts a fifth faster, and no request waits for a look at half a million objects.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def create_app(config: Config) -> Flask:
    """The whole application for one configuration."""
    from flask import Flask

    from app import cli, sections
    from app.core import errors
    from app.core.database import session as database
    from app.core.jobs import queue
    from app.core.media import pictures
    from app.core.operations import health, logging, metrics
    from app.core.web import blueprint, pages, rate_limits
    from app.core.web import request as web_request

    logging.configure(config)
    app = Flask(__name__)
    app.config["SECRET_KEY"] = config.secret_key
    app.config["TESTING"] = config.environment == "testing"
    app.extensions["config"] = config

    web_request.init_app(app, config)
    errors.init_app(app)
    database.init_app(app, config)
    queue.init_app(app, config)
    pictures.init_app(app, config)
    blueprint.init_app(app, sections.blueprints())
    rate_limits.init_app(app, config)
    health.init_app(app)
    metrics.init_app(app, config)
    pages.init_app(app, config)
    cli.init_app(app)
    if config.is_development:
        from dev import pages as development_pages

        development_pages.init_app(app)
    return app
