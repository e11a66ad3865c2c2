"""What every request and response has: an id, our JSON, CORS, safe headers, a bounded body, one log line."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from random import getrandbits  # nobody has to be unable to guess an id, and the kernel costs a turn of all threads
from time import perf_counter
from typing import TYPE_CHECKING

import orjson
from flask import Flask, Request, Response, g, request
from flask.json.provider import JSONProvider
from flask.sessions import SessionInterface, SessionMixin
from werkzeug.middleware.proxy_fix import ProxyFix

from app.core.operations import metrics
from app.core.web import cors
from app.core.web.parsing import FORM_TYPES, MAX_JSON_BYTES, MAX_MULTIPART_BYTES
from config import Config

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

logger = logging.getLogger("app.request")

#: Methods that metrics name. Anybody can make up others, and each would be a series of its own for good.
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")

SAFE_HEADERS = [
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("Cache-Control", "no-store"),  # what may be kept says so itself: pictures, and the routes that are `cached`
]
STAY_SECURE = ("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
#: What a response depends on, by where it is: a copy kept for one page must not be shown to another.
VARY = {"/api/": ("Vary", "Authorization, Origin"), "/media/": ("Vary", "Origin")}

JSON = "application/json"

WITH_BODY = frozenset({"POST", "PUT", "DELETE"})

#: Paths that machines ask all the time; their log lines would drown the others.
QUIET = frozenset({"/healthz", "/readyz", "/metrics"})

ORJSON_OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_NAIVE_UTC | orjson.OPT_OMIT_MICROSECONDS | orjson.OPT_NON_STR_KEYS


class ApiResponse(Response):
    """A response that leaves with its request's id and the safe headers, unless it has its own of these.

    They join where the headers are a plain list already: to werkzeug's own each costs a look through all others.
    """

    def get_wsgi_response(self, environ: WSGIEnvironment) -> tuple[Iterable[bytes], str, list[tuple[str, str]]]:
        body, status, headers = super().get_wsgi_response(environ)
        state = {name for name, _ in headers}
        headers += [pair for pair in SAFE_HEADERS if pair[0] not in state]
        headers.append(("X-Request-ID", g.request_id))
        if environ["wsgi.url_scheme"] == "https":
            headers.append(STAY_SECURE)
        path = f"{environ['PATH_INFO']}/"
        headers += [pair for place, pair in VARY.items() if path.startswith(place)]
        return body, status, headers


class OrjsonProvider(JSONProvider):
    """Flask's JSON by orjson: faster, and times as RFC 3339 in UTC rather than RFC 822."""

    def dumps(self, obj: object, **_: object) -> str:
        return orjson.dumps(obj, option=ORJSON_OPTIONS).decode()

    def loads(self, s: str | bytes, **_: object) -> object:
        return orjson.loads(s)

    def response(self, *args: object, **kwargs: object) -> Response:
        return raw_json(args[0] if len(args) == 1 else kwargs or args)  # as `jsonify` takes them


def raw_json(payload: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A response straight from plain values: prepared reads go past marshmallow, whose schema documents them."""
    return ApiResponse(orjson.dumps(payload, option=ORJSON_OPTIONS), status, headers, content_type=JSON)


class NoSessions(SessionInterface):
    """There are no cookies here: who somebody is, the bearer token says."""

    def open_session(self, app: Flask, request: Request) -> SessionMixin | None:
        return self.make_null_session(app)

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        """Nothing to save."""


def init_app(app: Flask, config: Config) -> None:
    app.response_class = ApiResponse
    app.json = OrjsonProvider(app)
    app.session_interface = NoSessions()
    app.config["MAX_CONTENT_LENGTH"] = MAX_MULTIPART_BYTES
    app.config["MAX_FORM_MEMORY_SIZE"] = MAX_JSON_BYTES
    app.config["MAX_FORM_PARTS"] = 100
    app.config["TRAP_BAD_REQUEST_ERRORS"] = False
    if config.trusted_proxies:
        n = config.trusted_proxies
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=n, x_proto=n, x_host=n)  # type: ignore[method-assign]
    app.before_request(_begin)
    app.after_request(_finish)


def _begin() -> None:
    environ = request.environ
    g.started = perf_counter()
    g.caller = None  # who it is, the access rule finds out
    sent = environ.get("HTTP_X_REQUEST_ID", "")
    g.request_id = sent if sent and REQUEST_ID.fullmatch(sent) else f"{getrandbits(128):032x}"
    if "CONTENT_LENGTH" in environ:
        # gunicorn says that its stream ends by itself, and werkzeug then takes half a body for a whole one.
        environ.pop("wsgi.input_terminated", None)
    if request.method in WITH_BODY and request.mimetype not in FORM_TYPES:
        request.max_content_length = MAX_JSON_BYTES


def _finish(response: Response) -> Response:
    if "HTTP_AUTHORIZATION" in request.environ:
        response.headers["Cache-Control"] = "no-store"
    if "HTTP_ORIGIN" in request.environ:
        cors.add_headers(request, response)
    _log(response)
    return response


def _log(response: Response) -> None:
    """One log line and one observation a request: the rule rather than the path, and no query, body or address."""
    seconds = perf_counter() - g.started
    route = request.url_rule.rule if request.url_rule else "(none)"
    method = request.method if request.method in METHODS else "other"
    metrics.REQUESTS.labels(method, route, response.status_code).observe(seconds)
    if request.path in QUIET and response.status_code < 500:
        return
    line = {
        "method": request.method,
        "route": route,
        "status": response.status_code,
        "ms": round(seconds * 1000, 1),
        "user_id": g.caller.id if g.caller else None,
    }
    logger.info("request", extra=line)
