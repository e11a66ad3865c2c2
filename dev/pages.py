"""Pages for developers, served in development alone: what was sent, and small stand-ins for the real front end."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from flask import Blueprint, Flask, Response, render_template
from markupsafe import Markup, escape

from app.core.database.session import autocommit
from app.core.lib.clock import JAKARTA
from app.core.settings import settings
from app.notifications.models import deliveries

#: Rows on the page; the newest come first.
SHOWN = 200

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "worker-src 'self'; form-action 'self'; frame-ancestors 'none'"
)

bp = Blueprint(
    "dev", __name__, url_prefix="/dev", template_folder="templates", static_folder="static", static_url_path="/static"
)


def init_app(app: Flask) -> None:
    app.register_blueprint(bp)
    app.add_template_filter(clickable)
    app.add_template_filter(local_time)


@bp.after_request
def guard(response: Response) -> Response:
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Cache-Control"] = "no-store"
    return response


@bp.get("/outbox")
def outbox() -> str:
    """Every message and push, newest first."""
    newest = sa.select(deliveries).order_by(deliveries.c.created_at.desc(), deliveries.c.id.desc()).limit(SHOWN)
    with autocommit() as connection:
        rows: list[Any] = list(connection.execute(newest).mappings())
    return render_template("dev/outbox.html", rows=rows, shown=SHOWN)


@bp.get("/reset-password")
def reset_password() -> str:
    """Where the reset link leads while no front end is there."""
    return render_template("dev/reset_password.html")


@bp.get("/push")
def push() -> str:
    """Subscribe this browser, and see what arrives."""
    return render_template("dev/push.html", configured=settings.vapid_public_key is not None)


@bp.get("/push-worker.js")
def push_worker() -> Response:
    """The service worker; below `/dev/` by its address, so that it may serve the page there."""
    return bp.send_static_file("push_worker.js")


def clickable(text: str) -> Markup:
    """The text with its links as links; a stop that ends a sentence is not part of one."""
    parts = re.split(r"(https?://\S+[^\s.,])", text)
    link = Markup('<a href="{0}">{0}</a>')
    return Markup("").join(link.format(part) if number % 2 else escape(part) for number, part in enumerate(parts))


def local_time(moment: datetime) -> str:
    return moment.astimezone(JAKARTA).strftime("%Y-%m-%d %H:%M:%S")
