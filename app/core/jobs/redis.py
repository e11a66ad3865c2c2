"""Redis connections with short timeouts. The URL may use plain TCP, TLS or a unix socket."""

from __future__ import annotations

from typing import Any

from redis import Redis
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.retry import Retry

#: Timeouts of web requests, which must fail fast. redis-py's defaults block for 4.5 s if Redis refuses connections, and
#: for 40 s if Redis hangs.
WEB: dict[str, Any] = {
    "socket_timeout": 0.2,
    "socket_connect_timeout": 0.2,
    "retry": Retry(NoBackoff(), 0),
    "health_check_interval": 0,
}

#: Options for a worker, which waits until Redis is available again.
WORKER: dict[str, Any] = {
    "socket_connect_timeout": 5,
    "socket_keepalive": True,
    "retry": Retry(ExponentialBackoff(cap=2, base=0.1), 5),
    "health_check_interval": 15,
}


def connect(url: str, **options: Any) -> Redis:
    """Return a Redis client for `url`. The client connects when it is first used."""
    return Redis.from_url(url, **options)
