"""Metrics of what runs behind the requests: what jobs counted, and how workers, clock and queues are.

Jobs run in short-lived processes that nobody can scrape. Each adds what it counted to the counts of all, in Redis.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterator, Sequence

from flask import Flask, current_app
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample
from redis.exceptions import RedisError
from rq import Queue, Worker
from rq.registry import BaseRegistry, FailedJobRegistry, StartedJobRegistry

from app.core.jobs.queue import QUEUES, connection
from app.core.jobs.schedule import HEARTBEAT, HEARTBEAT_TTL_S

logger = logging.getLogger(__name__)

#: The hash in Redis in which jobs add up their counts, by sample.
COUNTS = "figures:jobs"

PREFIX = "jobs_"

#: Jobs of a queue by what RQ keeps of them, beside those that wait.
REGISTRIES: dict[str, type[BaseRegistry]] = {"started": StartedJobRegistry, "failed": FailedJobRegistry}

#: What follows a metric's name in those of its samples that can be added up.
SUFFIXES = ("_total", "_bucket", "_count", "_sum")

#: What of this process's counts is in Redis already, by field of the hash.
_handed_over: dict[str, float] = {}


def init_app(app: Flask, counted: Sequence[Collector]) -> None:
    """`counted` are the counters and histograms that jobs move."""
    app.extensions["counted_by_jobs"] = counted


def hand_over() -> None:
    """Add what this process has counted since the last time; while Redis is away it waits for the next."""
    counts = {
        _field(sample): sample.value for metric in _counted() for sample in metric.samples if _is_count(sample, metric)
    }
    new = {field: value - _handed_over.get(field, 0.0) for field, value in counts.items()}
    if not any(new.values()):
        return
    pipeline = connection().pipeline(transaction=False)
    for field, value in new.items():
        if value:
            pipeline.hincrbyfloat(COUNTS, field, value)
    try:
        pipeline.execute()
    except RedisError:
        logger.warning("counts of a job were dropped: no Redis")
    else:
        _handed_over.update(counts)


def collect_counts() -> Iterator[Metric]:
    """The counts of all jobs, each under the name that web processes use with `jobs_` before it.

    Every gunicorn shows the same, so they cannot share a name: a sum over the gunicorns would count them twice.
    """
    stored = [_sample(field, float(n)) for field, n in connection().hgetall(COUNTS).items()]
    for metric in _counted():
        total = Metric(PREFIX + metric.name, f"{metric.documentation}; by jobs of all workers", metric.type)
        for sample in sorted((sample for sample in stored if _is_count(sample, metric)), key=_in_order):
            total.add_sample(PREFIX + sample.name, sample.labels, sample.value)
        yield total


def queue_sizes() -> dict[str, tuple[int, int]]:
    """Of each queue the workers that serve it, and the jobs that wait."""
    redis = connection()
    workers = workers_by_queue()
    return {name: (workers[name], Queue(name, connection=redis).count) for name in QUEUES}


def workers_by_queue() -> Counter[str]:
    """How many workers that are alive serve each queue."""
    return Counter(name for worker in Worker.all(connection=connection()) for name in worker.queue_names())


def collect() -> Iterator[Metric]:
    """Workers, clock and queues at this moment."""
    redis = connection()
    workers = workers_by_queue()
    alive = GaugeMetricFamily("workers", "Workers alive, by the queue that they serve", labels=["queue"])
    jobs = GaugeMetricFamily("jobs", "Jobs that wait, run or failed within a day", labels=["queue", "state"])
    for name in QUEUES:
        queue = Queue(name, connection=redis)
        alive.add_metric([name], workers[name])
        jobs.add_metric([name, "waiting"], queue.count)
        for state, registry in REGISTRIES.items():
            # With its cleanup, which may enqueue a job a second time, looking would change what is looked at.
            jobs.add_metric([name, state], registry(queue=queue).get_job_count(cleanup=False))
    yield alive
    yield jobs
    left_ms = redis.pttl(HEARTBEAT)
    yield GaugeMetricFamily(
        "clock_tick_age_seconds",
        f"Seconds since a clock ticked; infinite when none has for {HEARTBEAT_TTL_S}",
        value=max(0.0, HEARTBEAT_TTL_S - left_ms / 1000) if left_ms > 0 else float("inf"),
    )


def _counted() -> Iterator[Metric]:
    for collector in current_app.extensions["counted_by_jobs"]:
        yield from collector.collect()


def _is_count(sample: Sample, metric: Metric) -> bool:
    return sample.name.removeprefix(metric.name) in SUFFIXES  # and not `_created`, which is a moment


def _field(sample: Sample) -> str:
    return json.dumps([sample.name, sample.labels], sort_keys=True)


def _sample(field: bytes | str, value: float) -> Sample:
    name, labels = json.loads(field)
    return Sample(name, labels, value)


def _in_order(sample: Sample) -> tuple[list[tuple[str, str]], str, float]:
    labels = dict(sample.labels)
    bound = float(labels.pop("le", 0))
    return sorted(labels.items()), sample.name, bound
