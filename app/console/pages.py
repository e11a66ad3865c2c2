"""The page for administrators and moderators. It contains no data: its script calls the API like any other client."""

from __future__ import annotations

from flask import Response, render_template

from app.core.errors import NotFound
from app.core.settings import settings
from app.core.web.blueprint import PageBlueprint

bp = PageBlueprint("console_pages", __name__)

#: Content security policy. The page may use scripts, styles and calls only of this service, and pictures also from
#: `blob:`. Trusted Types prevent scripts from turning text into markup.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)


@bp.get("/console")
def console() -> Response:
    """Return the page if `CONSOLE` is enabled."""
    if not settings.has_console:
        raise NotFound("Halaman tidak ditemukan.", code="route_not_found")
    response = Response(render_template("console.html"))
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["X-Robots-Tag"] = "noindex"
    return response
