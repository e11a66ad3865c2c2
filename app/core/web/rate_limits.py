"""Rate limits, counted in Redis and, while Redis is away, in each process.

Only what guesses, spams or costs is limited here, route by route: a look into Redis with every read would cost more
than the read. The proxy in front limits the rest by address (`deploy/nginx.conf`).
"""

from __future__ import annotations

from collections.abc import Callable
from time import time
from typing import Any

from flask import Flask, Response, g, request
from flask_limiter import Limiter, RateLimitExceeded
from flask_limiter.util import get_remote_address

from app.core import errors
from app.core.jobs.redis import WEB, connect
from config import Config

limiter = Limiter(
    get_remote_address,
    strategy="moving-window",
    in_memory_fallback_enabled=True,
    # Alone it would be an open door. Behind the fallback it only keeps a Redis that dies between a look and a count
    # from turning an answer into a crash.
    swallow_errors=True,
    key_prefix="limit",
)


def limit(rate: str, *, key: Callable[[], str] = get_remote_address, **options: Any) -> Callable[..., Any]:
    """At most `rate` calls of a route by `key` (default: the caller's address)."""

    def marked() -> str:
        g.is_limited = True
        return key()

    decorate: Callable[..., Any] = limiter.limit(rate, key_func=marked, **options)
    return decorate


def by_body(*names: str) -> Callable[[], str]:
    """A key of what is asked about: the first of `names` in the JSON body or the query, compared without case."""

    def key() -> str:
        sent = request.args if request.method == "GET" else request.get_json(silent=True, force=True)
        found = next((str(sent[name]) for name in names if name in sent), "") if isinstance(sent, dict) else ""
        return f"{names[0]}:{found.strip().lower()[:100]}"

    return key


def init_app(app: Flask, config: Config) -> None:
    # By our own connections, which know every form of address (Sentinel's too) and wait for nothing.
    app.config["RATELIMIT_STORAGE_URI"] = "redis://"
    app.config["RATELIMIT_STORAGE_OPTIONS"] = {"connection_pool": connect(config.redis_url, **WEB).connection_pool}
    app.config["RATELIMIT_ENABLED"] = True  # set up in any case; `enabled` below is what counts
    limiter.init_app(app)
    # Every limit here is a route's own and checked as the route is called; looks around all others cost for nothing.
    app.before_request_funcs[None].pop()
    count, forget = app.after_request_funcs[None].pop(), app.teardown_request_funcs[None].pop()
    app.after_request(lambda response: count(response) if g.get("is_limited") else response)

    @app.teardown_request
    def forget_limits(error: BaseException | None) -> None:
        if g.get("is_limited"):
            forget(error)

    limiter.enabled = config.rate_limits
    app.register_error_handler(RateLimitExceeded, _refuse)


def _refuse(_: RateLimitExceeded) -> Response:
    found = limiter.current_limit
    wait = max(1, int(found.reset_at - time()) + 1) if found else errors.RETRY_AFTER_S
    return errors.handle_app_error(errors.TooManyRequests(retry_after=wait))
