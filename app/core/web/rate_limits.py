"""Rate limits, counted in Redis and, while Redis is away, in each process.

Only what guesses, spams or costs is limited here, route by route: a look into Redis with every read would cost more
than the read. The proxy in front limits the rest by address (`deploy/nginx.conf`).
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from functools import partial, wraps
from ipaddress import IPv4Network, IPv6Address, IPv6Network
from time import monotonic, time
from typing import Any, TypeVar, cast

from flask import Flask, Response, after_this_request, current_app, g, has_request_context, request
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

T = TypeVar("T")
View = TypeVar("View", bound=Callable[..., object])

#: Seconds before a Redis that failed twice in a row is asked again.
AWAY_S = 1.0


class RateLimits:
    """What one application counts, in `app.extensions["limits"]`; `enabled` switches all its limits on and off."""

    def __init__(self, redis: Redis, *, enabled: bool) -> None:
        self.enabled = enabled
        self._shared = MovingWindowRateLimiter(RedisStorage("redis://", connection_pool=redis.connection_pool))
        self._own = MovingWindowRateLimiter(MemoryStorage())
        self._away_until = 0.0
        self._pause_s = 0.0

    def check(self, rate: RateLimitItem, *key: str) -> None:
        """Count a call; `TooManyRequests` when the window is full."""

        def ends_at(limiter: MovingWindowRateLimiter) -> float | None:
            return None if limiter.hit(rate, *key) else limiter.get_window_stats(rate, *key).reset_time

        if (end := self._ask(ends_at)) is not None:
            raise TooManyRequests(retry_after=max(1, int(end - time()) + 1))

    def standing(self, rate: RateLimitItem, *key: str) -> tuple[int, int]:
        """How many calls are left in the window, and in how many seconds there is room for one more."""
        stats = self._ask(lambda limiter: limiter.get_window_stats(rate, *key))
        return max(0, stats.remaining), max(1, int(stats.reset_time - time()) + 1)

    def give_back(self, rate: RateLimitItem, *key: str) -> None:
        """Take the latest call out of the window."""
        name = rate.key_for(*key)

        def drop(limiter: MovingWindowRateLimiter) -> None:
            storage = limiter.storage
            if isinstance(storage, RedisStorage):
                cast(Redis, storage.get_connection()).lpop(storage.prefixed_key(name))
            elif entries := cast(MemoryStorage, storage).events.get(name):
                entries.pop(0)

        self._ask(drop)

    def _ask(self, question: Callable[[MovingWindowRateLimiter], T]) -> T:
        """Ask Redis, and this process's memory while Redis is away: neither a 500 nor an open door.

        A request waits for a silent Redis once, however many limits count it.
        """
        now = monotonic()
        in_request = has_request_context()
        if now >= self._away_until and not (in_request and "redis_is_away" in g):
            self._away_until = now + self._pause_s  # one call at a time looks whether Redis is back
            try:
                result = question(self._shared)
            except RedisError as error:
                if not self._pause_s:
                    logger.warning("Redis is away (%s): each process counts rate limits alone", type(error).__name__)
                self._pause_s = AWAY_S
                if in_request:
                    g.redis_is_away = True
            else:
                self._away_until = self._pause_s = 0.0
                return result
        return question(self._own)


def caller_address() -> str:
    """The caller's address, of IPv6 the network (/64): whoever has one address of it has them all."""
    text = request.remote_addr or "127.0.0.1"  # behind a unix socket there is none
    if ":" not in text:
        return text
    with suppress(ValueError):
        address = IPv6Address(text.partition("%")[0])
        return str(address.ipv4_mapped or IPv6Network((address, 64), strict=False))
    return text


def caller_network() -> str:
    """The network that the caller's address is in: /24, of IPv6 /64."""
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
    """At most `rate` calls of a route by `key` (default: `caller_address`), in a moving window.

    Routes with the same `counter` count together; without one each counts for itself.

    A call whose key is `None` is not limited. With `counts` only calls that end in this error are counted. Each call is
    counted before it is made and given back when it succeeds, so concurrent calls cannot exceed the limit.
    Of several limits the upper one is asked first; a call that it refuses is not counted by those below.
    """
    rates = parse_many(rate)

    def decorate(view: View) -> View:
        @wraps(view)
        def limited(*args: object, **kwargs: object) -> object:
            limits: RateLimits = current_app.extensions["limits"]
            if not limits.enabled or exempt_when() or (subject := key()) is None:
                return view(*args, **kwargs)
            counted_by = ("limit", subject, counter or request.endpoint or "")
            after_this_request(partial(_tell_standing, limits, rates, counted_by))
            if not counts:
                for each in rates:
                    limits.check(each, *counted_by)
                return view(*args, **kwargs)
            with ExitStack() as taken:
                for each in rates:
                    limits.check(each, *counted_by)
                    taken.callback(limits.give_back, each, *counted_by)
                try:
                    return view(*args, **kwargs)
                except counts:
                    taken.pop_all()
                    raise

        limited.limits = [*getattr(view, "limits", ()), (rate, counter)]  # type: ignore[attr-defined]
        return limited  # type: ignore[return-value]  # it takes and returns what the view does

    return decorate


def _tell_standing(
    limits: RateLimits, rates: list[RateLimitItem], key: tuple[str, ...], response: Response
) -> Response:
    """Add `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers): what is allowed, what is left."""
    for rate in rates:
        remaining, seconds = limits.standing(rate, *key)
        _append(response, "RateLimit-Policy", f'"{rate}";q={rate.amount};w={rate.get_expiry()}')
        _append(response, "RateLimit", f'"{rate}";r={remaining};t={seconds}')
    return response


def _append(response: Response, name: str, item: str) -> None:
    """One line, however many limits a route has: not every client reads a second one."""
    others = response.headers.get(name)
    response.headers[name] = f"{others}, {item}" if others else item


def are_enabled() -> bool:
    """Whether the running application counts anything."""
    limits: RateLimits = current_app.extensions["limits"]
    return limits.enabled


def count(rate: str, *key: str) -> None:
    """Count what a service does rather than a call of a route; `TooManyRequests` above `rate` for the same key."""
    limits: RateLimits = current_app.extensions["limits"]
    if limits.enabled:
        limits.check(parse(rate), *key)


def by_body(
    schema: type[Schema], name: str, resolve: Callable[[Any], object] = lambda value: value
) -> Callable[[], str | None]:
    """A key of what is asked about: what the field `name` of `schema` holds in the JSON body or the query.

    The field reads the value and `resolve` says what it stands for, so that every spelling of one thing counts
    together. A missing value, one that the schema will refuse, and one that `resolve` gives None for, has no key.

    Redis gets a digest alone: people type telephone numbers there, and at times a password into the wrong field.
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
    """With our secret, for there are few enough telephone numbers to try them all."""
    return hmac.digest(settings.secret_key.encode(), value.encode(), "sha256").hex()[:32]


def init_app(app: Flask, config: Config) -> None:
    app.extensions["limits"] = RateLimits(app.extensions["redis"], enabled=config.rate_limits)
