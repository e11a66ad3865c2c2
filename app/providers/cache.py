"""Cache for provider responses: fresh for a while, and for a day as the fallback when the provider fails.

If several callers of one process need the same key, one fetches. The others wait, or get the stale value at once.
Values are stored in Redis. While Redis is down, each process keeps a few in memory.
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
from app.core.lib.local_time import now
from app.providers.responses import ErrorKind, ProviderError

logger = logging.getLogger(__name__)

T = TypeVar("T")

#: `STALE_S`: seconds for which a value stays stored as the fallback for a failing provider. `MAX_KEPT_PER_HOUR`: new
#: keys per hour and cache that are stored for `STALE_S`. Further keys are stored only while they are fresh. Callers
#: choose some of the keys, so without this limit they could fill Redis.
STALE_S = 86_400
MAX_KEPT_PER_HOUR = 100

#: Seconds after a failure in which the provider is not called. Callers get the stale value or the same error at once.
REST_S = 10
#: Seconds after a failure in which only one caller at a time tries the provider. The others get the stale value or the
#: error. So a provider that hangs does not block every thread.
TROUBLE_S = 300

#: Maximum seconds that a caller waits for another caller's fetch.
FLIGHT_S = 9.0

#: Maximum values of one cache in the memory of a process. The oldest are removed first.
MAX_OWN_COPIES = 50

#: Seconds after a failed Redis command in which Redis is not called. Otherwise each request would wait for a timeout.
AWAY_S = 1.0

CACHED = Counter("provider_cache_total", "How answers of providers were found", ["cache", "outcome"])


@dataclass(frozen=True)
class Copy:
    """A cached value and the time when it was stored (Unix seconds)."""

    value: object
    at: float


@dataclass(frozen=True)
class FailedFetch:
    """The error kind of the last failed fetch and its time (Unix seconds)."""

    kind: ErrorKind
    at: float

    @property
    def rests(self) -> bool:
        return now().timestamp() - self.at < REST_S


class Cache(Generic[T]):
    """A cache for the responses to one kind of call. `decode` restores a value from its JSON form."""

    def __init__(self, name: str, decode: Callable[[Any], T], *, fresh_s: float, nothing_fresh_s: float = 60) -> None:
        """`nothing_fresh_s` is the freshness in seconds of `None`, which means that the resource does not exist."""
        self.name = name
        self._decode = decode
        self._fresh_s = fresh_s
        self._nothing_fresh_s = nothing_fresh_s
        self._flights: dict[str, Future[object]] = {}
        self._lock = threading.Lock()
        self._own: OrderedDict[str, Copy] = OrderedDict()
        self._away_until = 0.0

    def get(self, key: str, load: Callable[[], T]) -> T:
        """Return the value of `key`: the fresh one, else the result of `load`, else the stale one.

        Raise the `ProviderError` of `load` when no value is stored.
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
            flight.exception()  # avoids a warning when no other thread waits
            raise
        else:
            flight.set_result(fetched)
            return self._decode(fetched)
        finally:
            with self._lock:
                del self._flights[key]

    def peek(self, key: str) -> T | None:
        """Return the stored value, fresh or stale, without fetching."""
        copy, _ = self._read(key)
        return self._decode(copy.value) if copy else None

    def put(self, key: str, value: T) -> None:
        """Store a value that was fetched by another call."""
        self._write(key, _plain(value))

    def _fetch(self, key: str, load: Callable[[], T]) -> object:
        """Load, store and return the value in its JSON form. If loading fails, return the stale value."""
        copy, failure = self._read(key)  # read again: another thread may have stored a value since
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
        try:
            return self._decode(flight.result(FLIGHT_S))
        except FutureTimeout:
            raise ProviderError(self.name, "timeout") from None

    def _instead(self, copy: Copy | None, failure: FailedFetch | None) -> T:
        """Return the stale value, or raise the error of the last fetch. At least one of the two exists."""
        if copy:
            return self._found(copy, "stale")
        CACHED.labels(self.name, "failed").inc()
        raise ProviderError(self.name, failure.kind if failure else "busy")

    def _remember(self, key: str, error: ProviderError) -> None:
        if error.kind == "busy":
            return  # the provider was not called, so it may be healthy
        mark = orjson.dumps(FailedFetch(error.kind, now().timestamp()))
        self._redis(lambda redis: redis.set(self._at(key, "failed"), mark, ex=TROUBLE_S))

    def _found(self, copy: Copy, outcome: str) -> T:
        CACHED.labels(self.name, outcome).inc()
        return self._decode(copy.value)

    def _is_fresh(self, copy: Copy) -> bool:
        age = now().timestamp() - copy.at
        return age < (self._nothing_fresh_s if copy.value is None else self._fresh_s)

    # --- storage ---

    def _at(self, key: str, what: str) -> str:
        return f"cache:{self.name}:{what}:{key}"

    @property
    def _is_away(self) -> bool:
        return time.monotonic() < self._away_until

    def _redis(self, act: Callable[[Any], Any]) -> Any:
        if self._is_away:
            return None
        try:
            return act(connection())
        except RedisError:
            self._away_until = time.monotonic() + AWAY_S
            return None

    def _read(self, key: str) -> tuple[Copy | None, FailedFetch | None]:
        stored = self._redis(lambda redis: redis.mget(self._at(key, "copy"), self._at(key, "failed")))
        if stored is None:
            with self._lock:
                return self._own.get(key), None
        copy, failure = stored
        return Copy(**orjson.loads(copy)) if copy else None, FailedFetch(**orjson.loads(failure)) if failure else None

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
            kept_s = STALE_S if redis.incr(hour) <= MAX_KEPT_PER_HOUR else self._fresh_s
            redis.expire(hour, 3600)
        with redis.pipeline(transaction=False) as pipe:
            pipe.set(self._at(key, "copy"), orjson.dumps(copy), ex=int(kept_s))
            pipe.delete(self._at(key, "failed"))
            pipe.execute()


def _plain(value: object) -> object:
    """Return the value as JSON restores it, so that the first caller gets the same types as later ones."""
    return orjson.loads(orjson.dumps(value))
