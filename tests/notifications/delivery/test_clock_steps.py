"""The database's clock steps: nothing is expired, claimed or sent until it is back, and an alarm says so."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from datetime import timedelta
from struct import pack_into

import pytest
from flask import Flask

from app.core.database import clock as database_clock
from app.core.jobs import queue
from app.core.lib import clock
from app.notifications import jobs
from app.notifications.delivery import claims, clock_steps, settlements
from app.notifications.delivery import metrics as delivery_metrics
from app.notifications.models import Channel, State
from dev.simulators import Server
from tests.client import Client
from tests.notifications.conftest import add, age, reread

HOURS = 3600.0

Step = Callable[[float], None]


@pytest.fixture(autouse=True)
def step(real_app: Flask, monkeypatch: pytest.MonkeyPatch) -> Iterator[Step]:
    """Step the database's clock by so many seconds, as the workers see it: their own goes the other way."""
    running_s = clock_steps._running_s
    monkeypatch.setattr(clock_steps, "_last", {"logged": float("-inf"), "shared": float("-inf")})

    def move(seconds: float) -> None:
        monkeypatch.setattr(clock_steps, "_running_s", lambda: running_s() - seconds)

    with real_app.app_context():
        clock_steps.forget()
    yield move
    pack_into("d", clock_steps._offset, 0, float("nan"))


@pytest.mark.parametrize("seconds", [2 * HOURS, -2 * HOURS, 3000.0])
def test_nothing_is_claimed_until_the_clock_is_back(
    committed: Flask, gateway: Server, step: Step, seconds: float
) -> None:
    jobs.enqueue_due()
    row = add()
    queue.connection().delete("rq:queue:urgent")
    step(seconds)
    jobs.enqueue_due()
    jobs.drain("urgent")
    jobs.drain_alone("urgent")
    assert reread(row.dedupe_key).state == State.PENDING
    assert queue.connection().llen("rq:queue:urgent") == 0
    step(0)
    jobs.enqueue_due()
    jobs.drain("urgent")
    assert reread(row.dedupe_key).state == State.SENT


def test_nothing_is_missed_by_a_clock_that_ran_ahead(committed: Flask, gateway: Server, step: Step) -> None:
    jobs.enqueue_due()
    row = add(expires_at=clock.now() + timedelta(minutes=1))
    age(120, of=row)  # by the clock that ran ahead it has expired
    step(2 * HOURS)
    assert settlements.expire("urgent") == 0
    assert reread(row.dedupe_key).state == State.PENDING
    step(0)
    assert settlements.expire("urgent") == 1


def test_a_retry_in_the_middle_of_a_step_keeps_the_right_time(committed: Flask, step: Step) -> None:
    jobs.enqueue_due()
    for settle in (
        lambda delivery: settlements.settle_retry(delivery, 40, "no"),
        lambda delivery: settlements.settle_unknown(delivery, "broken"),
        lambda delivery: settlements.settle_postponed(delivery, timedelta(seconds=40)),
    ):
        row = add()
        claimed = claims.claim("urgent", Channel.MESSAGING)
        assert claimed is not None
        step(2 * HOURS)
        before = database_clock.now()
        settle(claimed)
        row = reread(row.dedupe_key)
        assert row.state == State.PENDING
        right_next_try_at = row.next_try_at + timedelta(hours=2)
        assert before < right_next_try_at <= database_clock.now() + timedelta(seconds=40)
        step(0)
        age(-7200, of=row)  # out of the way of the next


def test_an_alarm_says_so_once_a_minute(committed: Flask, step: Step, caplog: pytest.LogCaptureFixture) -> None:
    jobs.enqueue_due()
    gauge = "database_clock_step_seconds"
    assert f"{gauge} 0.0" in Client(committed).get("/metrics").get_data(as_text=True)
    step(2 * HOURS)
    with caplog.at_level(logging.ERROR, logger=clock_steps.__name__):
        for _ in range(3):
            jobs.enqueue_due()
    assert [record.message for record in caplog.records] == ["the database's clock has stepped: nothing is sent"]
    assert f"{gauge} 7" in Client(committed).get("/metrics").get_data(as_text=True)
    assert any("has stepped by 7" in problem for problem in delivery_metrics.worker_problems())


def test_a_worker_that_starts_in_the_middle_of_a_step_takes_the_time_of_the_others(
    committed: Flask, gateway: Server, step: Step
) -> None:
    jobs.enqueue_due()
    row = add()
    step(2 * HOURS)
    pack_into("d", clock_steps._offset, 0, float("nan"))  # a new process knows nothing
    jobs.enqueue_due()
    jobs.drain("urgent")
    assert reread(row.dedupe_key).state == State.PENDING


def test_a_jump_that_lasts_ten_minutes_is_believed(committed: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    start, running = clock.now(), clock_steps._running_s()
    after = {"s": 0.0}
    monkeypatch.setattr(clock_steps, "_running_s", lambda: running + after["s"])
    paused = timedelta(minutes=10)
    assert clock_steps.look(start) == 0.0
    for seconds in (10, 300, 600):
        after["s"] = seconds
        assert clock_steps.look(start + paused + timedelta(seconds=seconds)) == pytest.approx(600)
    after["s"] = 611
    assert clock_steps.look(start + paused + timedelta(seconds=611)) == 0.0


def test_clocks_that_drift_apart_slowly_are_followed(committed: Flask, gateway: Server, step: Step) -> None:
    for minutes in range(0, 60, 4):
        step(minutes * 60.0)
        jobs.enqueue_due()
    row = add()
    jobs.drain("urgent")
    assert reread(row.dedupe_key).state == State.SENT


def test_an_idle_tick_is_one_statement(app: Flask, statements: object) -> None:
    with statements.at_most(1):  # type: ignore[attr-defined]
        jobs.enqueue_due()
