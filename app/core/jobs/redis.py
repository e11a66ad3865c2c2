"""Redis connections with bounded waits, from one address: plain, TLS, unix socket or Sentinel."""

from __future__ import annotations

from typing import Any, TypedDict
from urllib.parse import parse_qsl, unquote, urlsplit

from redis import Redis
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.retry import Retry
from redis.sentinel import Sentinel

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
    """A client for `url`; nothing is connected yet.

    `sentinel://[[user]:password@]host:port,host:port/service?db=0` follows a Sentinel's master.
    """
    if (address := sentinel_of(url)) is None:
        return Redis.from_url(url, **options)
    shared = {"db": address["DB"], "username": address["USERNAME"], "password": address["PASSWORD"], **options}
    sentinel = Sentinel(address["INSTANCES"], sentinel_kwargs=options, **shared)  # type: ignore[no-untyped-call]
    master: Redis = sentinel.master_for(address["MASTER_NAME"])  # type: ignore[no-untyped-call]
    return master


class SentinelAddress(TypedDict):
    """Where a Sentinel is, in the names of RQ's own settings."""

    INSTANCES: list[tuple[str, int]]
    MASTER_NAME: str
    DB: int
    USERNAME: str | None
    PASSWORD: str | None


def sentinel_of(url: str) -> SentinelAddress | None:
    """What a `sentinel://` address says; None for other addresses."""
    if not url.startswith("sentinel://"):
        return None
    parts = urlsplit(url)
    hosts = parts.netloc.rpartition("@")[2].split(",")
    return {
        "INSTANCES": [(host, int(port or 26379)) for host, _, port in (h.partition(":") for h in hosts)],
        "MASTER_NAME": parts.path.strip("/") or "mymaster",
        "DB": int(dict(parse_qsl(parts.query)).get("db", 0)),
        "USERNAME": unquote(parts.username) if parts.username else None,
        "PASSWORD": unquote(parts.password) if parts.password else None,
    }
