"""Rate limits. Calls are counted in Redis, or in each process if Redis is unavailable.

Only routes that could be misused to guess secrets, send spam or cause costs have limits here. For a route
that only reads data, a call of Redis would take longer than the read. The proxy limits all other routes by the caller's
address (`deploy/nginx.conf`).
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import wraps
from ipaddress import IPv4Network, IPv6Address, IPv6Network
from time import monotonic, time
from typing import Any, TypeVar

from flask import Flask, current_app, g, has_request_context, request
from limits import RateLimitItem, parse, parse_many
from limits.storage import MemoryStorage, RedisStorage
from limits.strategies import MovingWindowRateLimiter
from marshmallow import Schema, ValidationError
from redis import Redis
from redis.exceptions import RedisError

from app.core.errors import AppError, TooManyRequests
from app.core.settings import settings
from app.core.web.parsing import clean, parse_json
from config import Config

logger = logging.getLogger(__name__)

View = TypeVar("View", bound=Callable[..., object])

#: Pause in seconds after a failure to reach Redis. The process does not call Redis during the pause.
AWAY_S = 1.0


class RateLimits:
    """The rate limits of one application, in `app.extensions["limits"]`. `enabled` turns all of them on or off."""

    def __init__(self, redis: Redis, *, enabled: bool) -> None:
        self.enabled = enabled
        self._shared = MovingWindowRateLimiter(RedisStorage("redis://", connection_pool=redis.connection_pool))
        self._own = MovingWindowRateLimiter(MemoryStorage())
        self._away_until = 0.0
        self._pause_s = 0.0

    def hit(self, rate: RateLimitItem, *key: str) -> None:
        """Count a call. Raise `TooManyRequests` if the limit for the time window is reached.

        If the request is retried, do not count again what its first attempt has counted.
        """
        if has_request_context():
            if (rate, key) in g.get("counted_before", ()):
                g.counted_before.remove((rate, key))
                return
            g.setdefault("counted", []).append((rate, key))
        self._refuse_unless(MovingWindowRateLimiter.hit, rate, key)

    def test(self, rate: RateLimitItem, *key: str) -> None:
        """Raise `TooManyRequests` if the limit for the time window is reached. Count nothing."""
        self._refuse_unless(MovingWindowRateLimiter.test, rate, key)

    def _refuse_unless(self, is_allowed: Callable[..., bool], rate: RateLimitItem, key: tuple[str, ...]) -> None:
        """Ask the counts in Redis. During an outage of Redis, ask the counts in the memory of this process."""

        def end_of_limit(limiter: MovingWindowRateLimiter) -> float | None:
            return None if is_allowed(limiter, rate, *key) else limiter.get_window_stats(rate, *key).reset_time

        now = monotonic()
        if now < self._away_until:
            end = end_of_limit(self._own)
        else:
            self._away_until = now + self._pause_s  # only one call at a time tests whether Redis is available again
            try:
                end = end_of_limit(self._shared)
                self._away_until = self._pause_s = 0.0
            except RedisError as error:
                if not self._pause_s:
                    logger.warning(
                        "Redis is unavailable (%s): each process counts rate limits separately", type(error).__name__
                    )
                self._pause_s = AWAY_S
                self._away_until = now + AWAY_S
                end = end_of_limit(self._own)
        if end is not None:
            raise TooManyRequests(retry_after=max(1, int(end - time()) + 1))


def caller_address() -> str:
    """Return the caller's IPv4 address or IPv6 /64 network. A single IPv6 user usually has a whole /64 network."""
    text = request.remote_addr or "127.0.0.1"  # a connection by unix socket has no address
    if ":" not in text:
        return text
    with suppress(ValueError):
        address = IPv6Address(text.partition("%")[0])
        return str(address.ipv4_mapped or IPv6Network((address, 64), strict=False))
    return text


def caller_network() -> str:
    """Return the network of the caller's address: /24 for IPv4, /64 for IPv6."""
    address = caller_address()
    with suppress(ValueError):
        return str(IPv4Network((address, 24), strict=False))
    return address


def limit(
    rate: str,
    *,
    key: Callable[[], str | None] = caller_address,
    counts: type[AppError] | tuple[type[AppError], ...] = (),
    exempt_when: Callable[[], bool] = lambda: False,
    counter: str | None = None,
) -> Callable[[View], View]:
    """Limit a route to `rate` calls per `key` in a moving time window. A call with the key None is not limited.

    Routes with the same `counter` share one count. If `counts` has error classes, a call counts only if it raises one
    of these errors.
    """
    # If a view has several of these decorators, the top decorator checks each call first. A call that the top decorator
    # refuses does not count for the lower ones.
    rates = parse_many(rate)

    def decorate(view: View) -> View:
        @wraps(view)
        def limited(*args: object, **kwargs: object) -> object:
            limits: RateLimits = current_app.extensions["limits"]
            if not limits.enabled or exempt_when() or (subject := key()) is None:
                return view(*args, **kwargs)
            counted_by = ("limit", subject, counter or request.endpoint or "")
            for each in rates:
                (limits.test if counts else limits.hit)(each, *counted_by)
            try:
                return view(*args, **kwargs)
            except counts:
                for each in rates:
                    limits.hit(each, *counted_by)
                raise

        limited.limits = [*getattr(view, "limits", ()), (rate, counter)]  # type: ignore[attr-defined]
        return limited  # type: ignore[return-value]  # same signature as the view

    return decorate


def start_retry() -> None:
    """Remember what the first attempt of this request has counted."""
    g.counted_before = g.pop("counted", [])


def count(rate: str, *key: str) -> None:
    """Count an action that a service performs. Use this function if a limit on the route is not suitable.

    Raise `TooManyRequests` if the actions with this key exceed `rate`.
    """
    limits: RateLimits = current_app.extensions["limits"]
    if limits.enabled:
        limits.hit(parse(rate), *key)


def is_allowed(rate: str, *key: str, take: bool) -> bool:
    """Return whether an action of the service itself stays within `rate`. With `take`, count the action."""
    limits: RateLimits = current_app.extensions["limits"]
    try:
        (limits.hit if take else limits.test)(parse(rate), *key)
    except TooManyRequests:
        return False
    return True


def by_body(
    schema: type[Schema], name: str, resolve: Callable[[Any], object] = lambda value: value
) -> Callable[[], str | None]:
    """Return a key function that reads the field `name` of `schema` from the JSON body or the query.

    The field parses the value and `resolve` normalizes it, so all spellings of a value share one count. The key is None
    if the value is missing or invalid, or if `resolve` returns None.
    """
    field = schema().fields[name]

    def key() -> str | None:
        with suppress(AppError, ValidationError):
            asks = request.method in ("GET", "HEAD")
            sent = clean(request.args) if asks else clean(parse_json(request.get_data(cache=True)))
            if isinstance(sent, Mapping) and sent.get(name) is not None:
                meaning = resolve(field.deserialize(sent[name]))
                return None if meaning is None else f"{name}:{_digest(str(meaning))}"
        return None

    return key


def _digest(value: str) -> str:
    """Return an HMAC, because the value may be a phone number, or a password typed into the wrong field.

    With a plain hash, an attacker could find a phone number by trying all numbers.
    """
    return hmac.digest(settings.secret_key.encode(), value.encode(), "sha256").hex()[:32]


def init_app(app: Flask, config: Config) -> None:
    app.extensions["limits"] = RateLimits(app.extensions["redis"], enabled=config.rate_limits)
