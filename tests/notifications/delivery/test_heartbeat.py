"""Heartbeat requests to an external monitor."""

from unittest.mock import Mock

import pytest
from redis.exceptions import ConnectionError as RedisAway
from sqlalchemy.exc import OperationalError

from app.core.jobs import queue, schedule
from app.core.jobs.queue import URGENT
from app.core.jobs.schedule import Periodic
from app.notifications.delivery import heartbeat
from app.notifications.delivery import metrics as delivery_metrics
from app.wiring import PERIODIC
from dev.simulators.replayed import Heartbeat


@pytest.fixture
def address(committed, sim, change_settings):
    url = sim.heartbeat.env()["HEARTBEAT_URL"]
    change_settings(heartbeat_url=url)
    with committed.app_context():
        yield url


def test_the_heartbeat_is_scheduled_once_a_minute_in_the_urgent_queue():
    assert Periodic(heartbeat.beat, every_s=60, queue=URGENT) in PERIODIC


def test_a_healthy_state_is_reported_as_success(address, sim, monkeypatch):
    monkeypatch.setattr(heartbeat, "worker_problems", list)
    heartbeat.beat()
    assert sim.heartbeat.said == [("success", "")]


def test_worker_problems_are_reported_as_a_failure_with_their_text(address, sim):
    queue.connection().delete(schedule.HEARTBEAT)
    heartbeat.beat()
    ((what, words),) = sim.heartbeat.said
    assert what == "fail"
    assert words.splitlines() == delivery_metrics.worker_problems()
    assert "no clock is going" in words


def test_an_unavailable_server_is_named_in_the_heartbeat(address, sim, monkeypatch):
    errors = {
        "Redis is away (ConnectionError)": RedisAway("refused"),
        "the database is away (OperationalError)": OperationalError("SELECT 1", {}, Exception("refused")),
    }
    for error in errors.values():
        monkeypatch.setattr(heartbeat, "worker_problems", Mock(side_effect=error))
        heartbeat.beat()
    assert sim.heartbeat.said == [("fail", words) for words in errors]


def test_a_failing_monitor_raises_no_error_and_its_address_is_not_logged(address, sim, monkeypatch, caplog):
    monkeypatch.setattr(heartbeat, "worker_problems", list)
    for fault in ("unknown", "rate", "garbage", "down"):
        sim.fault("heartbeat", fault)
        heartbeat.beat()
    assert Heartbeat.CHECK not in caplog.text, "the address is a secret"


def test_without_an_address_no_heartbeat_is_sent(committed, sim):
    with committed.app_context():
        heartbeat.beat()
    assert not sim.heartbeat.said
