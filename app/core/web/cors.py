"""CORS: web origins that may call the API, and response headers that their pages may read.

Flask answers OPTIONS requests itself. Every response to an allowed origin gets `Access-Control-Allow-Origin` and
`Access-Control-Expose-Headers`. Only the response to a preflight gets the other headers of this module.
"""

from __future__ import annotations

from flask import Request, Response

from app.core.settings import settings

PATHS = ("/api/", "/media/")
METHODS = ("DELETE", "GET", "OPTIONS", "POST", "PUT")
#: Request headers that the client application may send, in lower case. The application sends `cache-control`, `pragma`
#: and `expires` with every request.
CLIENT_HEADERS = frozenset(
    {"authorization", "content-type", "cache-control", "pragma", "expires", "x-request-id", "idempotency-key"}
)
EXPOSED_HEADERS = (
    "Cache-Status, Content-Disposition, ETag, Idempotency-Replayed, Link, Retry-After, X-Request-ID, X-Total-Count"
)
#: Seconds for which a browser may cache the response to a preflight.
MAX_AGE_S = 7200


def add_headers(request: Request, response: Response) -> None:
    """Add the CORS headers if `CORS_ORIGINS` contains the origin of the request."""
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
