"""Cache for provider responses. A stored value is first fresh, then stale, and usually expires after a day.

A fresh value is returned without a call. A stale value is the fallback if the provider fails. If several threads of a
process need the same key, only one thread calls the provider. The others get the stale value at once. If there is
no stale value, they wait.

Values are stored in Redis. Each process also keeps a few values in memory for outages of Redis.
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
from redis.exceptions import RedisError

from app.core.jobs.queue import connection
from app.core.lib.local_time import now
from app.providers.responses import ErrorKind, ProviderError

logger = logging.getLogger(__name__)

T = TypeVar("T")

#: Seconds for which a value is stored. This includes the time when the value is fresh, and the time when it is stale.
#: A stored value is the fallback if the provider fails.
STALE_S = 86_400
#: Maximum new keys per hour and cache that are stored for `STALE_S` seconds. Other new keys are stored only while they
#: are fresh. Users can choose some keys, so without this limit they could fill Redis.
MAX_KEPT_PER_HOUR = 100

#: Seconds after a failure during which the provider is not called. Callers get the stale value or the same error.
REST_S = 10
#: Seconds after a failed call for a key. During this time, no thread waits for another thread's call for the same key.
#: The threads get the stale value or an error at once. Otherwise a hanging provider could block all threads.
TROUBLE_S = 300

#: Maximum seconds to wait for a call that another thread has started for the same key.
FLIGHT_S = 9.0

#: Maximum number of values that a cache keeps in the memory of a process. The oldest values are removed first.
MAX_OWN_COPIES = 50

#: Seconds after a failed Redis command during which Redis is not called. Without this pause, each request would wait
#: for the Redis timeout.
AWAY_S = 1.0


@dataclass(frozen=True)
class Copy:
    """A cached value and the time when the value was stored (Unix seconds)."""

    value: object
    at: float


@dataclass(frozen=True)
class FailedFetch:
    """The last failed call for a key: the error kind and the time in Unix seconds."""

    kind: ErrorKind
    at: float

    @property
    def rests(self) -> bool:
        return now().timestamp() - self.at < REST_S


class Cache(Generic[T]):
    """Cache for the responses to one kind of call.

    Values are stored as JSON, and `decode` converts the JSON value to the original type.
    """

    def __init__(self, name: str, decode: Callable[[Any], T], *, fresh_s: float, nothing_fresh_s: float = 60) -> None:
        """Set up the cache. Values are fresh for `fresh_s` seconds.

        The value `None` means that the resource does not exist. `None` is fresh for `nothing_fresh_s` seconds.
        """
        self.name = name
        self._decode = decode
        self._fresh_s = fresh_s
        self._nothing_fresh_s = nothing_fresh_s
        self._flights: dict[str, Future[object]] = {}
        self._lock = threading.Lock()
        self._own: OrderedDict[str, Copy] = OrderedDict()
        self._away_until = 0.0

    def get(self, key: str, load: Callable[[], T]) -> T:
        """Return the value of `key`: the fresh value, else the result of `load`, else the stale value.

        If `load` fails and no value is stored, raise the `ProviderError` of `load`.
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
            flight.exception()  # marks the error as read, so that no warning is logged if no other thread waits
            raise
        else:
            flight.set_result(fetched)
            return self._decode(fetched)
        finally:
            with self._lock:
                del self._flights[key]

    def peek(self, key: str) -> T | None:
        """Return the stored value, fresh or stale, without a call to the provider. Return `None` if none is stored."""
        copy, _ = self._read(key)
        return self._decode(copy.value) if copy else None

    def put(self, key: str, value: T) -> None:
        """Store a value that another call to the provider has returned."""
        self._write(key, _plain(value))

    def _fetch(self, key: str, load: Callable[[], T]) -> object:
        """Call `load`, store the result and return its JSON form. If `load` fails, return the stale value."""
        copy, failure = self._read(key)  # another thread may have stored a value since the first read
        if copy and self._is_fresh(copy):
            return copy.value
        if failure and failure.rests:
            return _plain(self._instead(copy, failure))
        try:
            value = _plain(load())
        except ProviderError as error:
            self._remember(key, error)
            if copy is None:
                raise
            logger.warning(
                "serving the last good response from the cache: %s",
                error,
                extra={"cache": self.name, "copy_at": copy.at},
            )
            return _plain(self._found(copy, "stale"))
        self._write(key, value)
        return value

    def _shared(self, flight: Future[object]) -> T:
        try:
            return self._decode(flight.result(FLIGHT_S))
        except FutureTimeout:
            raise ProviderError(self.name, "timeout") from None

    def _instead(self, copy: Copy | None, failure: FailedFetch | None) -> T:
        """Return the stale value. If no value is stored, raise the error of the last call."""
        if copy:
            return self._found(copy, "stale")
        raise ProviderError(self.name, failure.kind if failure else "busy")

    def _remember(self, key: str, error: ProviderError) -> None:
        if error.kind == "busy":
            return  # not a failure of the provider: "busy" means that the provider was not called
        mark = orjson.dumps(FailedFetch(error.kind, now().timestamp()))
        self._redis(lambda redis: redis.set(self._at(key, "failed"), mark, ex=TROUBLE_S))

    def _found(self, copy: Copy, outcome: str) -> T:
        return self._decode(copy.value)

    def _is_fresh(self, copy: Copy) -> bool:
        age = now().timestamp() - copy.at
        return age < (self._nothing_fresh_s if copy.value is None else self._fresh_s)

    # --- storage in Redis and in memory ---

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
    """Encode a value as JSON and decode it again. A new value then has the same types as a value from the cache."""
    return orjson.loads(orjson.dumps(value))
