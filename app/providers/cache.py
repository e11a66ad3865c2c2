"""Answers of providers, kept: fresh for a while, and for days as the last good copy that serves when a provider fails.

In one process one caller fetches, and the others wait for the answer or take the older copy. The copies live in Redis.
While Redis is away each process keeps a few of its own.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import orjson
from prometheus_client import Counter
from redis.exceptions import RedisError

from app.core.jobs.queue import connection
from app.core.lib.clock import now
from app.providers.responses import Kind, ProviderError

logger = logging.getLogger(__name__)

T = TypeVar("T")

#: Seconds for which the last good copy serves, and new copies an hour that are kept so long. Callers choose some of the
#: keys: copies beyond that number leave when they are no longer fresh, so that nobody fills Redis.
STALE_S = 86_400
MAX_KEPT_AN_HOUR = 100

#: After a failure the provider is left alone so long; a visitor meanwhile gets the copy or the same failure at once.
REST_S = 10
#: And for so long one visitor at a time tries it again while the others are told at once: a provider that hangs must
#: not hold every thread.
TROUBLE_S = 300

#: The longest time in seconds that another caller waits for a fetch.
FLIGHT_S = 9.0

#: Copies that a process keeps of one cache; the oldest go first.
MAX_OWN_COPIES = 50

#: Redis was away a moment ago: a request that would ask it again would only wait again.
AWAY_S = 1.0

CACHED = Counter("provider_cache_total", "How answers of providers were found", ["cache", "outcome"])


@dataclass(frozen=True)
class Copy:
    """An answer that was kept, and when it came (Unix seconds)."""

    value: object
    at: float


@dataclass(frozen=True)
class Failure:
    """How the last fetch failed, and when."""

    kind: Kind
    at: float

    @property
    def rests(self) -> bool:
        return now().timestamp() - self.at < REST_S


class Cache(Generic[T]):
    """The kept answers of one kind. `decode` turns what JSON left of a value into the value again."""

    def __init__(self, name: str, decode: Callable[[Any], T], *, fresh_s: float, nothing_fresh_s: float = 60) -> None:
        """`nothing_fresh_s` is for `None`, the answer that something does not exist."""
        self.name = name
        self._decode = decode
        self._fresh_s = fresh_s
        self._nothing_fresh_s = nothing_fresh_s
        self._flights: dict[str, Future[object]] = {}
        self._lock = threading.Lock()
        self._own: OrderedDict[str, Copy] = OrderedDict()
        self._away_until = 0.0

    def get(self, key: str, load: Callable[[], T]) -> T:
        """The answer to `key`: a fresh copy, else what `load` gives, else the last good copy.

        Raises the `ProviderError` of `load` when there is no copy.
        """
        copy, failure = self._read(key)
        if copy and self._is_fresh(copy):
            return self._found(copy, "fresh")
        if failure and failure.rests:
            return self._instead(copy, failure)
        with self._lock:
            flight = self._flights.get(key)
            if mine := flight is None:
                flight = self._flights[key] = Future()
        if not mine:
            return self._instead(copy, failure) if copy or failure else self._shared(flight)
        try:
            fetched = self._fetch(key, load)
        except BaseException as error:
            flight.set_exception(error)
            flight.exception()  # seen, though nobody may be waiting
            raise
        else:
            flight.set_result(fetched)
            return self._decode(fetched)
        finally:
            with self._lock:
                del self._flights[key]

    def peek(self, key: str) -> T | None:
        """The copy, of whatever age; nothing is fetched."""
        copy, _ = self._read(key)
        return self._decode(copy.value) if copy else None

    def put(self, key: str, value: T) -> None:
        """Keep an answer that came by another way."""
        self._write(key, _plain(value))

    def _fetch(self, key: str, load: Callable[[], T]) -> object:
        """Return the plain value of a new answer."""
        copy, failure = self._read(key)  # again, because another thread may have fetched it since
        if copy and self._is_fresh(copy):
            return copy.value
        if failure and failure.rests:
            return _plain(self._instead(copy, failure))
        try:
            value = _plain(load())
        except ProviderError as error:
            self._remember(key, error)
            if copy is None:
                CACHED.labels(self.name, "failed").inc()
                raise
            logger.warning("serving the last good copy: %s", error, extra={"cache": self.name, "copy_at": copy.at})
            return _plain(self._found(copy, "stale"))
        self._write(key, value)
        CACHED.labels(self.name, "loaded").inc()
        return value

    def _shared(self, flight: Future[object]) -> T:
        """What another thread of this process finds."""
        try:
            return self._decode(flight.result(FLIGHT_S))
        except FutureTimeout:
            raise ProviderError(self.name, "timeout") from None

    def _instead(self, copy: Copy | None, failure: Failure | None) -> T:
        """The old copy, else the failure of whoever tried last; at least one of them is there."""
        if copy:
            return self._found(copy, "stale")
        CACHED.labels(self.name, "failed").inc()
        raise ProviderError(self.name, failure.kind if failure else "busy")

    def _remember(self, key: str, error: ProviderError) -> None:
        if error.kind == "busy":
            return  # that it was not even asked says nothing about it
        mark = orjson.dumps(Failure(error.kind, now().timestamp()))
        self._redis(lambda redis: redis.set(self._at(key, "failed"), mark, ex=TROUBLE_S))

    def _found(self, copy: Copy, outcome: str) -> T:
        CACHED.labels(self.name, outcome).inc()
        return self._decode(copy.value)

    def _is_fresh(self, copy: Copy) -> bool:
        age = now().timestamp() - copy.at
        return age < (self._nothing_fresh_s if copy.value is None else self._fresh_s)

    # --- where copies lie ---

    def _at(self, key: str, what: str) -> str:
        return f"cache:{self.name}:{what}:{key}"

    @property
    def _is_away(self) -> bool:
        return time.monotonic() < self._away_until

    def _redis(self, act: Callable[[Any], Any]) -> Any:
        """What Redis answers; `None` while it is away."""
        if self._is_away:
            return None
        try:
            return act(connection())
        except RedisError:
            self._away_until = time.monotonic() + AWAY_S
            return None

    def _read(self, key: str) -> tuple[Copy | None, Failure | None]:
        """The copy of a key, and the failure of the last fetch."""
        stored = self._redis(lambda redis: redis.mget(self._at(key, "copy"), self._at(key, "failed")))
        if stored is None:
            with self._lock:
                return self._own.get(key), None
        copy, failure = stored
        return Copy(**orjson.loads(copy)) if copy else None, Failure(**orjson.loads(failure)) if failure else None

    def _write(self, key: str, value: object) -> None:
        copy = Copy(value, now().timestamp())
        with self._lock:
            self._own[key] = copy
            self._own.move_to_end(key)
            if len(self._own) > MAX_OWN_COPIES:
                self._own.popitem(last=False)
        self._redis(lambda redis: self._keep(redis, key, copy))

    def _keep(self, redis: Any, key: str, copy: Copy) -> None:
        kept_s = self._nothing_fresh_s if copy.value is None else STALE_S
        hour = self._at(str(int(copy.at // 3600)), "kept")
        if copy.value is not None and not redis.exists(self._at(key, "copy")):
            kept_s = STALE_S if redis.incr(hour) <= MAX_KEPT_AN_HOUR else self._fresh_s
            redis.expire(hour, 3600)
        with redis.pipeline(transaction=False) as pipe:
            pipe.set(self._at(key, "copy"), orjson.dumps(copy), ex=int(kept_s))
            pipe.delete(self._at(key, "failed"))
            pipe.execute()


def _plain(value: object) -> object:
    """The value as JSON keeps it, so that the first caller gets what the later ones do."""
    return orjson.loads(orjson.dumps(value))
