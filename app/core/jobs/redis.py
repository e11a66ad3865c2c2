"""Redis connections with bounded waits, from one address: plain, TLS or unix socket."""

from __future__ import annotations

from typing import Any

from redis import Redis
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.retry import Retry

#: A request never waits for Redis: redis-py's own defaults block it for 4.5 s when Redis refuses, 40 s when it hangs.
WEB: dict[str, Any] = {
    "socket_timeout": 0.2,
    "socket_connect_timeout": 0.2,
    "retry": Retry(NoBackoff(), 0),
    "health_check_interval": 0,
}

#: A worker waits until Redis is back.
WORKER: dict[str, Any] = {
    "socket_connect_timeout": 5,
    "socket_keepalive": True,
    "retry": Retry(ExponentialBackoff(cap=2, base=0.1), 5),
    "health_check_interval": 15,
}


def connect(url: str, **options: Any) -> Redis:
    """Return a client for `url`. Nothing is connected yet."""
    return Redis.from_url(url, **options)
