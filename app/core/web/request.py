"""Common parts of all requests and responses: request id, JSON, CORS, security headers, body limits, one log line."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping

# `random` is good enough for request ids, because they may be guessable. The system's secure random source would
# release Python's global lock (GIL).
from random import getrandbits
from time import perf_counter
from typing import TYPE_CHECKING

import orjson
from flask import Flask, Response, g, request
from flask.json.provider import JSONProvider
from werkzeug.middleware.proxy_fix import ProxyFix

from app.core.operations import metrics
from app.core.web import cors
from app.core.web.parsing import FORM_TYPES, MAX_JSON_BYTES, MAX_MULTIPART_BYTES
from config import Config

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

logger = logging.getLogger("app.request")

#: HTTP methods that metrics distinguish. All other methods count as "other". Otherwise each method that a client
#: invents would create a permanent time series.
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")

SAFE_HEADERS = [
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    # A response that may be cached sets its own `Cache-Control`. Examples are pictures, and routes with `cached`.
    ("Cache-Control", "no-store"),
]
STAY_SECURE = ("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
#: `Vary` headers by path. They keep caches from returning the response of one user or origin to another.
VARY = {"/api/": ("Vary", "Authorization, Origin"), "/media/": ("Vary", "Origin")}

JSON = "application/json"

WITH_BODY = frozenset({"POST", "PUT", "DELETE"})

ORJSON_OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_NAIVE_UTC | orjson.OPT_OMIT_MICROSECONDS | orjson.OPT_NON_STR_KEYS


class ApiResponse(Response):
    """A response with the request id and the security headers. A header that the response sets itself stays unchanged.

    The headers are added to the plain list that werkzeug returns. This is faster than werkzeug's `Headers` object,
    which searches all headers before each addition.
    """

    def get_wsgi_response(self, environ: WSGIEnvironment) -> tuple[Iterable[bytes], str, list[tuple[str, str]]]:
        body, status, headers = super().get_wsgi_response(environ)
        present = {name for name, _ in headers}
        headers += [pair for pair in SAFE_HEADERS if pair[0] not in present]
        headers.append(("X-Request-ID", g.request_id))
        if environ["wsgi.url_scheme"] == "https":
            headers.append(STAY_SECURE)
        path = f"{environ['PATH_INFO']}/"
        headers += [pair for place, pair in VARY.items() if path.startswith(place)]
        return body, status, headers


class OrjsonProvider(JSONProvider):
    """JSON provider of Flask that uses orjson. orjson is faster, and writes times in RFC 3339 format, not RFC 822."""

    def dumps(self, obj: object, **_: object) -> str:
        return orjson.dumps(obj, option=ORJSON_OPTIONS).decode()

    def loads(self, s: str | bytes, **_: object) -> object:
        return orjson.loads(s)


def raw_json(payload: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a JSON response from plain values, without marshmallow. A schema serves only to document the response."""
    return ApiResponse(orjson.dumps(payload, option=ORJSON_OPTIONS), status, headers, content_type=JSON)


def init_app(app: Flask, config: Config) -> None:
    app.response_class = ApiResponse
    app.json = OrjsonProvider(app)
    app.config["MAX_CONTENT_LENGTH"] = MAX_MULTIPART_BYTES
    app.config["MAX_FORM_MEMORY_SIZE"] = MAX_JSON_BYTES
    app.config["MAX_FORM_PARTS"] = 100
    if config.trusted_proxies:
        n = config.trusted_proxies
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=n, x_proto=n, x_host=n)  # type: ignore[method-assign]
    app.before_request(_begin)
    app.after_request(_finish)


def _begin() -> None:
    environ = request.environ
    g.started = perf_counter()
    g.caller = None  # the access rule of the view sets the caller
    sent = environ.get("HTTP_X_REQUEST_ID", "")
    g.request_id = sent if sent and REQUEST_ID.fullmatch(sent) else f"{getrandbits(128):032x}"
    if "CONTENT_LENGTH" in environ:
        # gunicorn sets this flag to show that the input stream ends by itself. Remove the flag. Otherwise, werkzeug
        # would accept an incomplete body.
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
    """Update the metric and write one log line.

    The metric and the log line contain the URL rule instead of the path. They do not contain the query, the body or the
    caller's address.
    """
    seconds = perf_counter() - g.started
    route = request.url_rule.rule if request.url_rule else "(none)"
    method = request.method if request.method in METHODS else "other"
    metrics.REQUESTS.labels(method, route, response.status_code).observe(seconds)
    line = {
        "method": request.method,
        "route": route,
        "status": response.status_code,
        "ms": round(seconds * 1000, 1),
        "user_id": g.caller.id if g.caller else None,
    }
    logger.info("request", extra=line)
