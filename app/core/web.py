"""What every request and answer has: an id, our JSON, CORS, safe headers, a bounded body, one log line."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping
from time import perf_counter
from typing import Any

import orjson
from flask import Flask, Request, Response, g, request
from flask.globals import request_ctx
from flask.json.provider import JSONProvider
from flask.sessions import SessionInterface, SessionMixin
from flask_cors import CORS
from werkzeug.middleware.proxy_fix import ProxyFix

from app.core import metrics
from app.core.parsing import FORM_TYPES, MAX_JSON_BYTES, MAX_MULTIPART_BYTES
from config import Config

logger = logging.getLogger("app.request")

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")

#: The client sends the three cache-busting headers with every request, so CORS must allow them.
CLIENT_HEADERS = ["Authorization", "Content-Type", "Cache-Control", "Pragma", "Expires", "X-Request-ID"]
EXPOSED_HEADERS = ["X-Request-ID", "X-Total-Count", "Link", "Retry-After", "Content-Disposition"]

SAFE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}

WITH_BODY = frozenset({"POST", "PUT", "DELETE"})

#: Paths that machines ask all the time; their log lines would drown the others.
QUIET = frozenset({"/healthz", "/readyz", "/metrics"})

ORJSON_OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_NAIVE_UTC | orjson.OPT_OMIT_MICROSECONDS | orjson.OPT_NON_STR_KEYS


class OrjsonProvider(JSONProvider):
    """Flask's JSON by orjson: faster, and times as RFC 3339 in UTC rather than RFC 822."""

    def dumps(self, obj: Any, **_: Any) -> str:
        return orjson.dumps(obj, option=ORJSON_OPTIONS).decode()

    def loads(self, s: str | bytes, **_: Any) -> Any:
        return orjson.loads(s)

    def response(self, *args: Any, **kwargs: Any) -> Response:
        body = orjson.dumps(self._prepare_response_obj(args, kwargs), option=ORJSON_OPTIONS)
        return Response(body, mimetype="application/json")


def raw_json(payload: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """An answer straight from plain values: hot reads go past marshmallow, whose schema documents them."""
    return Response(orjson.dumps(payload, option=ORJSON_OPTIONS), status, headers, mimetype="application/json")


class NoSessions(SessionInterface):
    """There are no cookies here: who somebody is, the bearer token says."""

    def open_session(self, app: Flask, request: Request) -> SessionMixin | None:
        return self.make_null_session(app)

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        """Nothing to save."""


def init_app(app: Flask, config: Config) -> None:
    app.json = OrjsonProvider(app)
    app.session_interface = NoSessions()
    app.ensure_sync = _as_it_is  # type: ignore[assignment, method-assign]  # no view is async; asking each of them costs
    app.config["MAX_CONTENT_LENGTH"] = MAX_MULTIPART_BYTES
    app.config["MAX_FORM_MEMORY_SIZE"] = MAX_JSON_BYTES
    app.config["MAX_FORM_PARTS"] = 100
    app.config["TRAP_BAD_REQUEST_ERRORS"] = False
    if config.trusted_proxies:
        n = config.trusted_proxies
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=n, x_proto=n, x_host=n)  # type: ignore[method-assign]
    CORS(
        app,
        resources={r"/(api|media)/.*": {"origins": list(config.allowed_origins)}},
        allow_headers=CLIENT_HEADERS,
        expose_headers=EXPOSED_HEADERS,
        methods=["GET", "POST", "PUT", "DELETE", "OPTIONS"],
        max_age=7200,
    )
    app.before_request(_begin)
    app.after_request(_finish)


def _as_it_is(view: Any) -> Any:
    return view


def _begin() -> None:
    g.started = perf_counter()
    g.caller = None  # who it is, the access rule finds out
    sent = request.headers.get("X-Request-ID", "")
    g.request_id = sent if REQUEST_ID.fullmatch(sent) else os.urandom(16).hex()
    if "CONTENT_LENGTH" in request.environ:
        # gunicorn says that its stream ends by itself, and werkzeug then takes half a body for a whole one.
        request.environ.pop("wsgi.input_terminated", None)
    if request.method in WITH_BODY and request.mimetype not in FORM_TYPES:
        request.max_content_length = MAX_JSON_BYTES


def _finish(response: Response) -> Response:
    asked = request_ctx.request  # looked up once, not at each mention
    headers = response.headers
    headers["X-Request-ID"] = g.request_id
    for name, value in SAFE_HEADERS.items():
        if name not in headers:
            headers.add(name, value)
    if asked.is_secure:
        headers.setdefault("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
    if "Authorization" in asked.headers:
        headers["Cache-Control"] = "no-store"
    if asked.path.startswith("/api/"):
        headers.add("Vary", "Authorization, Origin")
    _tell(asked, response)
    return response


def _tell(asked: Request, response: Response) -> None:
    """One log line and one observation a request: the rule rather than the path, and no query, body or address."""
    seconds = perf_counter() - g.started
    route = asked.url_rule.rule if asked.url_rule else "(none)"
    metrics.REQUESTS.labels(asked.method, route, response.status_code).observe(seconds)
    if asked.path in QUIET and response.status_code < 500:
        return
    caller = g.caller
    logger.info(
        "request",
        extra={
            "method": asked.method,
            "route": route,
            "status": response.status_code,
            "ms": round(seconds * 1000, 1),
            "user_id": caller.id if caller else None,
        },
    )
