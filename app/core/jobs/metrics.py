"""Prometheus metrics of jobs, workers, schedulers and queues.

Prometheus cannot read metrics from jobs, because each job runs in a short-lived process. Each job therefore adds its
counts to totals in Redis.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from threading import Lock

from flask import Flask, current_app
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.samples import Sample
from redis.exceptions import RedisError
from rq import Queue, Worker
from rq.registry import BaseRegistry, FailedJobRegistry, StartedJobRegistry

from app.core.jobs.queue import QUEUES, connection
from app.core.jobs.schedule import HEARTBEAT, HEARTBEAT_TTL_S

logger = logging.getLogger(__name__)

#: Redis hash with the totals of all jobs. Its fields are Prometheus samples.
COUNTS = "figures:jobs"

#: RQ registries whose job counts are exported, in addition to the queue length.
REGISTRIES: dict[str, type[BaseRegistry]] = {"started": StartedJobRegistry, "failed": FailedJobRegistry}

#: Name suffixes of the Prometheus samples that are counts.
SUFFIXES = ("_total", "_bucket", "_count", "_sum")

#: The part of this process's counts that the totals in Redis already include, by field of the Redis hash.
_handed_over: dict[str, float] = {}
_lock = Lock()


def init_app(app: Flask, counted: Mapping[MetricWrapperBase, str], zeros: Sequence[Sample]) -> None:
    """Register the counters and histograms that jobs update.

    `counted` maps each counter or histogram to the prefix of its name in `/metrics`. `zeros` are samples that
    `/metrics` shows before the first update.
    """
    app.extensions["counted_by_jobs"] = counted, zeros


def hand_over() -> None:
    """Add this process's new counts to the totals in Redis.

    If Redis is unavailable, the next call adds these counts.
    """
    counted, _ = current_app.extensions["counted_by_jobs"]
    with _lock:
        counts = {
            _field(sample): sample.value
            for collector in counted
            for metric in collector.collect()
            for sample in metric.samples
            if _is_count(sample, metric)
        }
        new = {field: more for field, value in counts.items() if (more := value - _handed_over.get(field, 0.0))}
        if not new:
            return
        pipeline = connection().pipeline(transaction=False)
        for field, more in new.items():
            pipeline.hincrbyfloat(COUNTS, field, more)
        try:
            pipeline.execute()
        except RedisError:
            logger.warning("metrics of a job are sent later: Redis is unavailable")
        else:
            _handed_over.update(counts)


def counts() -> list[Sample]:
    _, zeros = current_app.extensions["counted_by_jobs"]
    values = {_field(zero): zero.value for zero in zeros}
    for field, value in connection().hgetall(COUNTS).items():
        values[field.decode() if isinstance(field, bytes) else field] = float(value)
    return [_sample(field, value) for field, value in values.items()]


def collect_counts() -> Iterator[Metric]:
    """Yield the totals of all jobs from Redis.

    Every gunicorn process yields the same totals. If web processes also update a metric, the name of its totals gets a
    prefix. Without the prefix, a sum over all gunicorn processes would count a job several times.
    """
    counted, _ = current_app.extensions["counted_by_jobs"]
    samples = counts()
    for collector, prefix in counted.items():
        (metric,) = collector.describe()
        total = Metric(prefix + metric.name, f"{metric.documentation}; by jobs of all workers", metric.type)
        for sample in sorted((sample for sample in samples if _is_count(sample, metric)), key=_in_order):
            total.add_sample(prefix + sample.name, sample.labels, sample.value)
        yield total


def queue_sizes() -> dict[str, tuple[int, int]]:
    """Return, for each queue, the number of its workers and of its waiting jobs."""
    redis = connection()
    workers = workers_by_queue()
    return {name: (workers[name], Queue(name, connection=redis).count) for name in QUEUES}


def workers_by_queue() -> Counter[str]:
    """Return the number of live workers for each queue."""
    return Counter(name for worker in Worker.all(connection=connection()) for name in worker.queue_names())


def collect() -> Iterator[Metric]:
    """Yield the current state of workers, scheduler and queues."""
    redis = connection()
    workers = workers_by_queue()
    alive = GaugeMetricFamily("workers", "Workers alive, by the queue that they serve", labels=["queue"])
    jobs = GaugeMetricFamily("jobs", "Jobs that wait, run or failed within a day", labels=["queue", "state"])
    for name in QUEUES:
        queue = Queue(name, connection=redis)
        alive.add_metric([name], workers[name])
        jobs.add_metric([name, "waiting"], queue.count)
        for state, registry in REGISTRIES.items():
            # Skip RQ's cleanup, because it may enqueue a job again. Reading metrics must not enqueue jobs.
            jobs.add_metric([name, state], registry(queue=queue).get_job_count(cleanup=False))
    yield alive
    yield jobs
    left_ms = redis.pttl(HEARTBEAT)
    yield GaugeMetricFamily(
        "clock_tick_age_seconds",
        f"Seconds since a clock ticked; infinite when none has for {HEARTBEAT_TTL_S}",
        value=max(0.0, HEARTBEAT_TTL_S - left_ms / 1000) if left_ms > 0 else float("inf"),
    )


def is_scheduler_running() -> bool:
    return bool(connection().exists(HEARTBEAT))


def _is_count(sample: Sample, metric: Metric) -> bool:
    return sample.name.removeprefix(metric.name) in SUFFIXES  # a sample with the suffix `_created` is a time


def _field(sample: Sample) -> str:
    return json.dumps([sample.name, sample.labels], sort_keys=True)


def _sample(field: str, value: float) -> Sample:
    name, labels = json.loads(field)
    return Sample(name, labels, value)


def _in_order(sample: Sample) -> tuple[list[tuple[str, str]], str, float]:
    labels = dict(sample.labels)
    bound = float(labels.pop("le", 0))
    return sorted(labels.items()), sample.name, bound
