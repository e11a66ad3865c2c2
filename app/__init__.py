"""The health-support service. `create_app` builds the application. Importing this package opens no connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # only for type checkers, because the process of the SQL console imports this package without Flask
    from flask import Flask

    from config import Config


def create_app(config: Config) -> Flask:
    """Return a Flask application with the settings `config`."""
    from flask import Flask

    from app import cli, sections, wiring
    from app.core import errors
    from app.core.database import engines
    from app.core.jobs import queue, schedule
    from app.core.media import pictures
    from app.core.operations import health, logging, metrics
    from app.core.web import blueprint, pages, rate_limits
    from app.core.web import request as web_request
    from app.identity import access
    from app.notifications.delivery import drain
    from app.providers import http

    logging.configure()
    app = Flask(__name__)
    app.config["TESTING"] = config.environment == "testing"
    app.extensions["config"] = config

    web_request.init_app(app, config)
    errors.init_app(app)
    engines.init_app(app, config)
    queue.init_app(app, config)
    pictures.init_app(app, config)
    access.init_app(app)
    blueprint.init_app(app, sections.blueprints())
    rate_limits.init_app(app, config)
    http.init_app()
    schedule.init_app(app, wiring.TICKS, wiring.PERIODIC)
    drain.init_app(app, wiring.ROUTING)
    app.extensions["inbound_handlers"] = wiring.INBOUND_HANDLERS
    health.init_app(app, wiring.HEALTH_CHECKS)
    metrics.init_app(app, wiring.METRIC_COLLECTORS)
    pages.init_app(app, sections.pages())
    cli.init_app(app)
    return app
