"""Entry pages: `/` for people, the API documentation at `/api/docs`, and a list of addresses for programs at `/api`."""

from __future__ import annotations

from collections.abc import Sequence

from flask import Flask, Response, render_template, request
from flask_swagger_ui import get_swaggerui_blueprint
from werkzeug.exceptions import NotFound

from app.core import errors
from app.core.settings import settings
from app.core.web.blueprint import PageBlueprint
from app.core.web.request import raw_json
from app.core.web.small_pages import error_page

#: Content security policy for Swagger UI. The installed package contains all files of the page. The page uses inline
#: styles and data: images. The page contacts only this host.
DOCS_POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; font-src 'self'; frame-ancestors 'none'"
)
PAGE_POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'"

PAGE_NOT_FOUND = "Halaman ini tidak kami temukan. Mungkin alamatnya salah ketik, atau tautannya sudah lama."

ENTRY_POINTS = {"docs": "/api/docs/", "openapi": "/api/openapi.json", "health": "/healthz"}


def init_app(app: Flask, blueprints: Sequence[PageBlueprint]) -> None:
    for blueprint in blueprints:
        app.register_blueprint(blueprint)
    app.register_error_handler(NotFound, _handle_not_found)
    docs = get_swaggerui_blueprint(
        "/api/docs",
        "/api/openapi.json",
        config={
            "app_name": "Health-support service",
            "docExpansion": "none",
            "persistAuthorization": True,
            "validatorUrl": None,
            "filter": True,
        },
    )

    @docs.after_request  # type: ignore[untyped-decorator]  # flask-swagger-ui publishes no types
    def extend_docs_page(response: Response) -> Response:
        """Extend Swagger UI's page: allow its own files, and add the script that stores the token after a login."""
        response.headers["Content-Security-Policy"] = DOCS_POLICY
        if response.mimetype == "text/html":
            response.set_data(
                response.get_data().replace(b"</body>", b'<script src="/static/docs.js"></script></body>')
            )
        return response

    app.register_blueprint(docs)

    @app.get("/api/")
    def list_entry_points() -> Response:
        """Return the main addresses of the API as paths.

        The paths have no host, because the service may have several host names.
        """
        return raw_json(ENTRY_POINTS)

    @app.get("/")
    def index() -> Response:
        """Return the start page, which links to the other pages."""
        response = Response(
            render_template("index.html", development="dev" in app.blueprints, console=settings.has_console)
        )
        response.headers["Content-Security-Policy"] = PAGE_POLICY
        return response


def _handle_not_found(error: NotFound) -> Response:
    """Return a 404 response, as a page for browsers and as JSON for other clients."""
    accepted = request.accept_mimetypes
    if request.routing_exception is not None and accepted["text/html"] > accepted["application/json"]:
        return error_page(error.code, PAGE_NOT_FOUND, address=settings.frontend_url)
    return errors.handle_http_exception(error)
