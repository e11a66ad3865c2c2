"""CORS: which pages of other origins may call the API, and what they may read of its responses.

Flask itself answers the OPTIONS of every route; a browser's preflight needs these headers on it, any other response the
first two.
"""

from __future__ import annotations

from flask import Request, Response

from app.core.settings import settings

PATHS = ("/api/", "/media/")
METHODS = ("DELETE", "GET", "OPTIONS", "POST", "PUT")
#: The client sends the three cache-busting headers with every request. In lower case, for lookups.
CLIENT_HEADERS = frozenset(
    {"authorization", "content-type", "cache-control", "pragma", "expires", "x-request-id", "idempotency-key"}
)
EXPOSED_HEADERS = (
    "Cache-Status, Content-Disposition, ETag, Idempotency-Replayed, Link, RateLimit, RateLimit-Policy, Retry-After, "
    "X-Request-ID, X-Total-Count"
)
#: How long a browser may keep what a preflight said.
MAX_AGE_S = 7200


def add_headers(request: Request, response: Response) -> None:
    """Let the page that asks read the response, when its origin is one of `CORS_ORIGINS`."""
    origin = request.headers.get("Origin", "")
    if not f"{request.path}/".startswith(PATHS) or origin.lower() not in map(str.lower, settings.allowed_origins):
        return
    response.headers["Access-Control-Allow-Origin"] = origin
    response.headers["Access-Control-Expose-Headers"] = EXPOSED_HEADERS
    if request.method == "OPTIONS" and request.headers.get("Access-Control-Request-Method", "").upper() in METHODS:
        names = [name.strip() for name in request.headers.get("Access-Control-Request-Headers", "").split(",")]
        allowed = ", ".join(sorted(name for name in names if name.lower() in CLIENT_HEADERS))
        if allowed:
            response.headers["Access-Control-Allow-Headers"] = allowed
        response.headers["Access-Control-Allow-Methods"] = ", ".join(METHODS)
        response.headers["Access-Control-Max-Age"] = str(MAX_AGE_S)
