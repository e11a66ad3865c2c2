"""Prometheus metrics at `/metrics`: counters of the gunicorn processes, and values read at the time of the request.


gunicorn sets `PROMETHEUS_MULTIPROC_DIR`. If this variable is set, the counters of all gunicorn processes are added up.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence

from flask import Flask, Response, has_request_context
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Histogram,
    generate_latest,
    values,
)
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from redis.exceptions import RedisError
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app.core.database.session import db

logger = logging.getLogger(__name__)

REQUESTS = Histogram(
    "http_request_seconds",
    "Requests by method, route and status",
    ["method", "route", "status"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)

_PROVIDER_CALLS = Histogram(
    "provider_call_seconds",
    "Calls of outside services, each attempt by itself",
    ["provider", "outcome"],
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8),
)


def count_provider_call(provider: str, outcome: str, seconds: float) -> None:
    """Update the metric. In a worker, write a log line instead, because Prometheus cannot read its metrics."""
    if has_request_context():
        _PROVIDER_CALLS.labels(provider, outcome).observe(seconds)
    else:
        line = {"provider": provider, "outcome": outcome, "ms": round(seconds * 1000, 1)}
        logger.info("provider call", extra=line)


#: A function that reads metrics when `/metrics` is requested, such as queue lengths.
Collect = Callable[[], Iterable[Metric]]


class _Collected(Collector):
    """Metrics from one function.

    If Redis or the database is unavailable, these metrics are left out. All other metrics are still returned.
    """

    def __init__(self, collect: Collect) -> None:
        self._collect = collect

    def collect(self) -> Iterable[Metric]:
        try:
            return list(self._collect())
        except (RedisError, DBAPIError, PoolTimeout) as error:
            logger.warning("metrics are incomplete: %s", type(error).__name__)
            db.session.remove()  # its connection may be broken
            return []


def init_app(app: Flask, collectors: Sequence[Collect]) -> None:
    """Register `/metrics`, with the counters of the web processes and the metrics of `collectors`."""

    @app.get("/metrics")
    def metrics() -> Response:
        registry = CollectorRegistry()
        if values.ValueClass.__name__ == "MmapedValue":  # several gunicorn processes write their counters to one folder
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        else:
            registry.register(REGISTRY)
        for collect in collectors:
            registry.register(_Collected(collect))
        return Response(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
