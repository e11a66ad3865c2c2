"""Pages for developers, only in development: sent messages, and small replacements for the real front end."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from http import HTTPStatus

from flask import Blueprint, Flask, Response, abort, redirect, render_template, request, url_for
from markupsafe import Markup, escape

from app.core.lib.local_time import JAKARTA, today
from app.core.settings import settings
from app.identity import phones
from app.providers.webhooks import MAX_TEXT
from dev import outbox as outbox_page

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
    """Show the upcoming messages and pushes, then those already sent."""
    return render_template(
        "dev/outbox.html",
        outbox=outbox_page.read(),
        unfolded_next=outbox_page.UNFOLDED_NEXT,
        unfolded_latest=outbox_page.UNFOLDED_LATEST,
    )


@bp.post("/outbox/answer")
def answer() -> Response:
    """Store the developer's text as an incoming message from one of the recipients."""
    phone, text = phones.normalise(request.form.get("phone", "")), request.form.get("text", "")[:MAX_TEXT]
    if phone is None or not text.strip():
        abort(HTTPStatus.BAD_REQUEST)
    outbox_page.write_as(phone, text)
    return redirect(url_for(".outbox"), HTTPStatus.SEE_OTHER)  # type: ignore[return-value]


@bp.get("/reset-password")
def reset_password() -> str:
    """Show the page that a password reset link opens while there is no front end."""
    return render_template("dev/reset_password.html")


@bp.get("/today")
def today_page() -> str:
    """Show the buttons to answer today's doses, like the main page of a client."""
    return render_template("dev/today.html")


@bp.get("/push")
def push() -> str:
    return render_template("dev/push.html", configured=settings.vapid_public_key is not None)


@bp.get("/push-worker.js")
def push_worker() -> Response:
    """Serve the service worker from `/dev/`. A browser limits a service worker to pages below its own path."""
    return bp.send_static_file("push_worker.js")


def clickable(text: str) -> Markup:
    """Return the text as HTML with its links clickable. A full stop after a link is not part of the link."""
    parts = re.split(r"(https?://\S+[^\s.,])", text)
    link = Markup('<a href="{0}">{0}</a>')
    return Markup("").join(link.format(part) if number % 2 else escape(part) for number, part in enumerate(parts))


def local_time(moment: datetime) -> str:
    """Format a moment in Jakarta time, for example `Today 18:30:05` or `Tue 24 Nov 06:00:00`."""
    local = moment.astimezone(JAKARTA)
    near = {today(): "Today", today() + timedelta(days=1): "Tomorrow", today() - timedelta(days=1): "Yesterday"}
    day = near.get(local.date()) or f"{local:%a} {local.day} {local:%b}"
    return f"{day} {local:%H:%M:%S}"
