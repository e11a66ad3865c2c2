"""The clock's sign of life to a watchman outside."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from time import monotonic

import pytest
from flask import Flask
from redis.exceptions import ConnectionError as RedisAway
from sqlalchemy.exc import OperationalError

from app.core.jobs import queue, schedule
from app.notifications.delivery import heartbeat
from app.notifications.delivery import metrics as delivery_metrics
from app.wiring import TICKS
from dev.simulators import Server
from dev.simulators.heartbeat import CHECK
from dev.stack.waiting import PATIENCE_S


@pytest.fixture
def address(committed: Flask, sim: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    url = sim.heartbeat.env()["HEARTBEAT_URL"]
    config = dataclasses.replace(committed.extensions["config"], heartbeat_url=url)
    monkeypatch.setitem(committed.extensions, "config", config)
    with committed.app_context():
        queue.connection().delete(heartbeat.TURN)
        yield url


def beat() -> None:
    """A tick of a clock that has just started, to the end of what it began."""
    heartbeat._heart.next_at, heartbeat._heart.thread = 0.0, None
    heartbeat.beat()
    if heartbeat._heart.thread is not None:
        heartbeat._heart.thread.join(PATIENCE_S)
        assert not heartbeat._heart.thread.is_alive()


def healthy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "worker_problems", list)


def test_the_clock_beats() -> None:
    assert heartbeat.beat in TICKS


def test_all_is_well_is_told_at_the_address_itself(address: str, sim: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    healthy(monkeypatch)
    beat()
    assert sim.heartbeat.said == [("success", "")]


def test_what_is_wrong_is_told_in_words(address: str, sim: Server) -> None:
    queue.connection().delete(schedule.HEARTBEAT)
    beat()
    ((what, words),) = sim.heartbeat.said
    assert what == "fail"
    assert words.splitlines() == delivery_metrics.worker_problems()
    assert "no clock is going" in words


def test_of_several_clocks_one_calls_in_a_minute(address: str, sim: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    healthy(monkeypatch)
    beat()
    beat()
    assert len(sim.heartbeat.said) == 1
    assert 0 < queue.connection().pttl(heartbeat.TURN) < heartbeat.EVERY_S * 1000


def test_one_clock_looks_once_a_minute(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    healthy(monkeypatch)
    beat()
    first = heartbeat._heart.thread
    heartbeat.beat()
    assert heartbeat._heart.thread is first
    heartbeat._heart.next_at = monotonic()
    heartbeat.beat()
    assert heartbeat._heart.thread is not first
    heartbeat._heart.thread.join(PATIENCE_S)


def test_without_redis_every_clock_says_so(address: str, sim: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise RedisAway("refused")

    monkeypatch.setattr(heartbeat, "connection", away)
    beat()
    assert sim.heartbeat.said == [("fail", "Redis is away (ConnectionError)")]


def test_without_the_database_it_says_so(address: str, sim: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> list[str]:
        raise OperationalError("SELECT 1", {}, Exception("refused"))

    monkeypatch.setattr(heartbeat, "worker_problems", away)
    beat()
    assert sim.heartbeat.said == [("fail", "the database is away (OperationalError)")]


@pytest.mark.parametrize("fault", ["unknown", "rate", "hang", "garbage", "down"])
def test_a_watchman_who_does_not_answer_breaks_nothing(
    address: str, sim: Server, fault: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    healthy(monkeypatch)
    sim.fault("heartbeat", fault)
    beat()
    assert CHECK not in caplog.text, "the address is a secret"


def test_a_tick_does_not_wait_for_a_watchman_who_hangs(
    address: str, sim: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    healthy(monkeypatch)
    sim.fault("heartbeat", "hang")
    heartbeat._heart.next_at, heartbeat._heart.thread = 0.0, None
    heartbeat.beat()
    thread = heartbeat._heart.thread
    assert thread is not None
    assert thread.is_alive()
    heartbeat._heart.next_at = monotonic()
    heartbeat.beat()
    assert heartbeat._heart.thread is thread, "no second thread beside one that hangs"
    thread.join(PATIENCE_S)


def test_without_an_address_nobody_is_called(committed: Flask, sim: Server) -> None:
    with committed.app_context():
        beat()
    assert heartbeat._heart.thread is None
    assert not sim.heartbeat.said
