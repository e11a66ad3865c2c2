"""Metrics of jobs and queues in `/metrics`. They are present before the first job, and during outages."""

from __future__ import annotations

import math

import pytest
import sqlalchemy as sa
from flask import Flask
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families
from redis import Redis
from rq.registry import FailedJobRegistry, StartedJobRegistry
from rq.serializers import JSONSerializer

from app.core.jobs import metrics, queue
from app.core.jobs.schedule import HEARTBEAT, HEARTBEAT_TTL_S
from app.core.jobs.worker import Job
from app.forum.jobs import place_pictures
from app.notifications.models import Channel
from app.providers.http import CALLS
from tests.helpers.client import Client

Labels = dict[str, str]


def samples(client: Client, name: str) -> dict[frozenset[tuple[str, str]], float]:
    """Return the samples of a metric by their labels."""
    response = client.get("/metrics")
    assert response.status_code == 200
    families = text_string_to_metric_families(response.text)
    return {
        frozenset(sample.labels.items()): sample.value
        for family in families
        for sample in family.samples
        if sample.name == name
    }


def sample(client: Client, name: str, **labels: str) -> float:
    return samples(client, name)[frozenset(labels.items())]


@pytest.mark.parametrize("name", ["deliveries_due", "deliveries_oldest_due_seconds"])
def test_delivery_backlog_metrics_are_zero_before_any_delivery(client: Client, name: str) -> None:
    lanes = [frozenset({("queue", each), ("channel", channel)}) for each in queue.QUEUES for channel in Channel]
    assert samples(client, name) == dict.fromkeys(lanes, 0.0)


def test_delivery_counters_start_at_zero(client: Client) -> None:
    assert sample(client, "deliveries_total", outcome="failed", channel="push") == 0.0
    assert sample(client, "delivery_lag_seconds_bucket", channel="messaging", le="+Inf") == 0.0


def test_worker_job_log_and_scheduler_gauges_exist_before_any_job(client: Client) -> None:
    assert samples(client, "workers") == {frozenset({("queue", name)}): 0.0 for name in queue.QUEUES}
    assert sample(client, "jobs", queue="urgent", state="failed") == 0.0
    assert sample(client, "activity_logs_waiting") == 0.0
    assert sample(client, "clock_tick_age_seconds") == math.inf


def test_the_age_of_the_last_scheduler_tick_is_exported(client: Client) -> None:
    queue.connection().set(HEARTBEAT, 1, px=HEARTBEAT_TTL_S * 1000 - 6000)
    assert 6 <= sample(client, "clock_tick_age_seconds") < HEARTBEAT_TTL_S


def test_jobs_are_counted_and_reading_the_counts_moves_no_job(committed: Flask) -> None:
    client = Client(committed)
    redis = queue.connection()
    queue.enqueue_now(place_pictures)
    # Add a job that seems abandoned to the registry of started jobs. If the metrics let RQ count the jobs of this
    # registry, RQ would enqueue the abandoned job again.
    redis.zadd(StartedJobRegistry("urgent", redis).key, {"abandoned:execution": 1})
    redis.zadd(FailedJobRegistry("urgent", redis).key, {"failed": 2**31})
    for _ in range(2):
        states = {state: sample(client, "jobs", queue="urgent", state=state) for state in ("waiting", "started")}
        assert states == {"waiting": 1.0, "started": 1.0}
        assert sample(client, "jobs", queue="urgent", state="failed") == 1.0


def perform(committed: Flask) -> None:
    """Run a job like a worker does, but in this process."""

    class OurJob(Job):
        app = committed

    job = OurJob.create(place_pictures, connection=queue.connection(), serializer=JSONSerializer, origin="bulk")
    job.prepare_for_execution("test", queue.connection().pipeline())
    job.perform()


def test_metrics_of_a_job_are_added_to_those_of_earlier_jobs(committed: Flask) -> None:
    client = Client(committed)
    labels = {"provider": "contoh", "outcome": "ok"}
    for seconds in (0.07, 3.0):
        CALLS.labels(**labels).observe(seconds)
        perform(committed)
        perform(committed)  # the second job has no new counts to add
    assert sample(client, "jobs_provider_call_seconds_count", **labels) == 2.0
    assert sample(client, "jobs_provider_call_seconds_sum", **labels) == pytest.approx(3.07)
    assert sample(client, "jobs_provider_call_seconds_bucket", le="0.1", **labels) == 1.0
    assert sample(client, "jobs_provider_call_seconds_bucket", le="+Inf", **labels) == 2.0
    # In this process, the metric without the prefix `jobs_` keeps its value.
    assert REGISTRY.get_sample_value("provider_call_seconds_count", labels) == 2.0


def test_job_metrics_are_kept_while_redis_is_unavailable(committed: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    CALLS.labels("contoh", "timeout").observe(1)
    with monkeypatch.context() as patch:
        patch.setitem(committed.extensions, "redis", Redis(port=1))
        metrics.hand_over()
    metrics.hand_over()
    labels = {"provider": "contoh", "outcome": "timeout"}
    assert sample(Client(committed), "jobs_provider_call_seconds_count", **labels) == 1.0


@pytest.mark.processes
def test_other_metrics_are_available_while_redis_is_unavailable(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.get("/roles")
    monkeypatch.setitem(app.extensions, "redis", Redis(port=1))
    assert sample(client, "deliveries_due", queue="urgent", channel="messaging") == 0.0
    assert sample(client, "http_request_seconds_count", method="GET", route="/api/roles", status="200") >= 1
    assert samples(client, "workers") == {}


def test_other_metrics_are_available_while_the_database_does_not_respond(committed: Flask) -> None:
    def hang(*_: object) -> None:
        raise sa.exc.TimeoutError("the database does not answer")

    client = Client(committed)
    engine = committed.extensions["autocommit"]
    sa.event.listen(engine, "checkout", hang)
    try:
        assert samples(client, "deliveries_due") == {}
        assert samples(client, "workers") == {frozenset({("queue", name)}): 0.0 for name in queue.QUEUES}
    finally:
        sa.event.remove(engine, "checkout", hang)
