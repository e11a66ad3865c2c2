"""Prometheus metrics of workers, schedulers and queues, read from Redis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from rq import Queue, Worker
from rq.registry import BaseRegistry, FailedJobRegistry, StartedJobRegistry

from app.core.jobs.queue import QUEUES, connection
from app.core.jobs.schedule import HEARTBEAT, HEARTBEAT_TTL_S

#: RQ registries whose job counts are exported, in addition to the queue length.
REGISTRIES: dict[str, type[BaseRegistry]] = {"started": StartedJobRegistry, "failed": FailedJobRegistry}


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
