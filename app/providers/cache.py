"""Cache for provider responses in Redis. A fresh value is returned without a call.

Otherwise the provider is called. If the call fails, the stale value is returned. Without Redis, each call goes to the
provider.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import orjson
from redis.exceptions import RedisError

from app.core.jobs.queue import connection
from app.core.lib.local_time import now
from app.providers.responses import ProviderError

logger = logging.getLogger(__name__)

T = TypeVar("T")

#: Seconds for which a value is stored: while it is fresh, and afterwards while it is stale.
KEPT_S = 2 * 86_400
#: Seconds for which the value `None` is stored. It means that the resource does not exist.
NOTHING_S = 60


@dataclass(frozen=True)
class Copy:
    """A cached value and the time when the value was stored (Unix seconds)."""

    value: object
    at: float


class Cache(Generic[T]):
    """Cache for the responses to one kind of call.

    Values are stored as JSON, and `decode` converts the JSON value to the original type.
    """

    def __init__(self, name: str, decode: Callable[[Any], T], *, fresh_s: float) -> None:
        self.name = name
        self._decode = decode
        self._fresh_s = fresh_s

    def get(self, key: str, load: Callable[[], T]) -> T:
        """Return the value of `key`: the fresh value, else the result of `load`, else the stale value.

        If `load` fails and no value is stored, raise the `ProviderError` of `load`.
        """
        copy = self._read(key)
        if copy and now().timestamp() - copy.at < self._fresh_s:
            return self._decode(copy.value)
        try:
            value = load()
        except ProviderError as error:
            if copy is None:
                raise
            logger.warning("serving a stale response: %s", error, extra={"cache": self.name, "copy_at": copy.at})
            return self._decode(copy.value)
        self.put(key, value)
        return value

    def put(self, key: str, value: T) -> None:
        """Store a value that the provider has returned."""
        copy = orjson.dumps(Copy(value, now().timestamp()))
        try:
            connection().set(f"cache:{self.name}:{key}", copy, ex=NOTHING_S if value is None else KEPT_S)
        except RedisError as error:
            logger.warning("a response is not cached: %s", type(error).__name__)

    def _read(self, key: str) -> Copy | None:
        try:
            stored = connection().get(f"cache:{self.name}:{key}")
        except RedisError as error:
            logger.warning("the cache cannot be read: %s", type(error).__name__)
            return None
        return Copy(**orjson.loads(stored)) if stored else None
