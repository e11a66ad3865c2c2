"""Metrics of jobs and queues in `/metrics`. They are present before the first job, and during outages."""

import math

import pytest
import sqlalchemy as sa
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families
from rq.registry import FailedJobRegistry, StartedJobRegistry

from app.core.jobs import queue
from app.core.jobs.schedule import HEARTBEAT, HEARTBEAT_TTL_S
from app.identity.jobs import sweep_pictures
from app.notifications.models import Channel
from app.providers.http import Http, ProviderError
from tests.core.operations.command_line import dead_redis
from tests.helpers.client import Client

#: Names of the metrics, as in the operators' documents and alerts.
DOCUMENTED = {
    "http_request_seconds", "provider_call_seconds", "deliveries_last_hour", "deliveries_due",
    "deliveries_oldest_due_seconds", "workers", "jobs", "clock_tick_age_seconds", "sender_state", "broadcasts_paused",
    "inbound_waiting", "inbound_dangers_last_day", "activity_logs_waiting", "activity_logs_dropped",
}  # fmt: skip


def samples(client, name):
    """Return the samples of a metric by their labels."""
    response = client.get("/metrics")
    assert response.status_code == 200
    found = [each for family in text_string_to_metric_families(response.text) for each in family.samples]
    return {frozenset(each.labels.items()): each.value for each in found if each.name == name}


def sample(client, name, **labels):
    return samples(client, name)[frozenset(labels.items())]


def test_all_metrics_exist_before_any_delivery_or_job(client):
    lanes = [frozenset({("queue", each), ("channel", channel)}) for each in queue.QUEUES for channel in Channel]
    for name in ("deliveries_due", "deliveries_oldest_due_seconds"):
        assert samples(client, name) == dict.fromkeys(lanes, 0.0)
    assert samples(client, "workers") == {frozenset({("queue", name)}): 0.0 for name in queue.QUEUES}
    assert sample(client, "deliveries_last_hour", state="failed", channel="push") == 0.0
    assert sample(client, "jobs", queue="urgent", state="failed") == 0.0
    assert sample(client, "activity_logs_waiting") == sample(client, "activity_logs_dropped_total") == 0.0
    assert sample(client, "clock_tick_age_seconds") == math.inf
    queue.connection().set(HEARTBEAT, 1, px=HEARTBEAT_TTL_S * 1000 - 6000)
    assert 6 <= sample(client, "clock_tick_age_seconds") < HEARTBEAT_TTL_S


def test_no_other_metric_is_exported_than_the_documented(client):
    client.get("/roles")
    names = {
        family.name.removesuffix("_created") for family in text_string_to_metric_families(client.get("/metrics").text)
    }
    assert {name for name in names if not name.startswith(("python_", "process_"))} == DOCUMENTED


def test_jobs_are_counted_and_reading_the_counts_moves_no_job(committed):
    client = Client(committed)
    redis = queue.connection()
    queue.enqueue_now(sweep_pictures)
    # Add a job that seems abandoned to the registry of started jobs. If the metrics let RQ count the jobs of this
    # registry, RQ would enqueue the abandoned job again.
    redis.zadd(StartedJobRegistry("urgent", redis).key, {"abandoned:execution": 1})
    redis.zadd(FailedJobRegistry("urgent", redis).key, {"failed": 2**31})
    for _ in range(2):
        states = {state: sample(client, "jobs", queue="urgent", state=state) for state in ("waiting", "started")}
        assert states == {"waiting": 1.0, "started": 1.0}
        assert sample(client, "jobs", queue="urgent", state="failed") == 1.0


def test_a_call_of_a_provider_is_counted_in_a_request_and_logged_in_a_job(app, sim, caplog):
    http, labels = Http("contoh"), {"provider": "contoh", "outcome": "4xx"}

    def calls():
        return REGISTRY.get_sample_value("provider_call_seconds_count", labels) or 0.0

    with app.test_request_context(), pytest.raises(ProviderError):
        http.fetch("GET", sim.url)
    assert calls() == 1.0
    assert "provider call" not in caplog.messages
    with pytest.raises(ProviderError):
        http.fetch("GET", sim.url)
    assert calls() == 1.0
    (line,) = [record for record in caplog.records if record.message == "provider call"]
    assert (line.provider, line.outcome) == ("contoh", "4xx")


def test_other_metrics_are_available_while_redis_is_unavailable(app, client, monkeypatch):
    client.get("/roles")
    monkeypatch.setitem(app.extensions, "redis", dead_redis())
    assert sample(client, "deliveries_due", queue="urgent", channel="messaging") == 0.0
    assert sample(client, "http_request_seconds_count", method="GET", route="/api/roles", status="200") >= 1
    assert samples(client, "workers") == {}


def test_other_metrics_are_available_while_the_database_does_not_respond(committed):
    def hang(*_):
        raise sa.exc.TimeoutError("the database does not answer")

    client = Client(committed)
    engine = committed.extensions["autocommit"]
    sa.event.listen(engine, "checkout", hang)
    try:
        assert samples(client, "deliveries_due") == {}
        assert samples(client, "workers") == {frozenset({("queue", name)}): 0.0 for name in queue.QUEUES}
    finally:
        sa.event.remove(engine, "checkout", hang)
