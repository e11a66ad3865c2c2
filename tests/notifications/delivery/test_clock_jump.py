"""Jumps of the database's clock. For 10 minutes, deliveries follow the clock as it was before the jump."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta

import pytest
from flask import Flask

from app.core.database import db_time
from app.core.jobs import clock_jump, queue
from app.core.jobs.clock_jump import verified_time
from app.core.jobs.schedule import Scheduler
from app.core.lib import local_time
from app.notifications import jobs
from app.notifications.delivery import claims, settlements
from app.notifications.delivery import metrics as delivery_metrics
from app.notifications.models import Channel, DeliveryState
from app.pengingat import jobs as pengingat_jobs
from dev.simulators import Server
from tests.helpers.client import Client
from tests.notifications.deliveries import add, age, reread

HOURS = 3600.0

Jump = Callable[[float], None]


@pytest.fixture
def jump(committed: Flask, monkeypatch: pytest.MonkeyPatch) -> Jump:
    """Return a function that simulates a clock jump by some seconds. The function changes the uptime, not the clock."""
    uptime_s = clock_jump._uptime_s

    def by(seconds: float) -> None:
        monkeypatch.setattr(clock_jump, "_uptime_s", lambda: uptime_s() - seconds)

    verified_time.verify()
    return by


@pytest.fixture
def waited(committed: Flask, monkeypatch: pytest.MonkeyPatch) -> Jump:
    """Return a function that sets the seconds since the test began. The database's clock is then 10 minutes ahead."""
    start, uptime = db_time.now(), clock_jump._uptime_s()

    def go(seconds: float) -> None:
        monkeypatch.setattr(clock_jump, "_uptime_s", lambda: uptime + seconds)
        ahead = timedelta(minutes=10) if seconds else timedelta()
        monkeypatch.setattr(db_time, "now", lambda: start + timedelta(seconds=seconds) + ahead)
        verified_time.verify()

    go(0)
    return go


def tick() -> None:
    """Run one tick of the scheduler, which looks for due deliveries."""
    Scheduler((jobs.enqueue_due,), ()).tick()


@pytest.mark.parametrize("seconds", [2 * HOURS, -2 * HOURS, 3000.0])
def test_only_deliveries_due_by_the_verified_time_are_sent_after_a_clock_jump(
    gateway: Server, jump: Jump, seconds: float
) -> None:
    # A test cannot move the database's clock. So the test moves the times of the rows instead.
    due, later = add(), add()
    age(seconds + 5, of=due)
    age(seconds - 60, of=later)
    jump(seconds)
    tick()
    job = queue.connection().lindex("rq:queue:urgent", 0)
    assert job is not None
    jobs.drain("urgent", tick=clock_jump.now().isoformat())
    assert reread(due.dedupe_key).state == DeliveryState.SENT
    assert reread(later.dedupe_key).state == DeliveryState.PENDING


def test_a_drain_uses_the_time_of_its_tick_instead_of_the_clock(gateway: Server, jump: Jump) -> None:
    row = add()
    age(-2 * HOURS, of=row)
    verified_time.reset()  # the state of a new worker process
    jobs.drain("urgent", tick=(local_time.now() + timedelta(hours=1)).isoformat())
    assert reread(row.dedupe_key).state == DeliveryState.PENDING
    jobs.drain("urgent", tick=(local_time.now() + timedelta(hours=2, minutes=1)).isoformat())
    assert reread(row.dedupe_key).state == DeliveryState.SENT


def test_a_drain_that_waited_in_the_queue_sends_deliveries_due_since_its_tick(gateway: Server, jump: Jump) -> None:
    row = add()
    verified_time.reset()
    jobs.drain("urgent", tick=(local_time.now() - timedelta(minutes=4)).isoformat())
    assert reread(row.dedupe_key).state == DeliveryState.SENT


def test_a_delivery_does_not_expire_early_when_the_clock_jumps_ahead(gateway: Server, jump: Jump) -> None:
    row = add(expires_at=local_time.now() + timedelta(minutes=1))
    age(120, of=row)  # expired according to the database's clock, which is ahead
    jump(2 * HOURS)
    verified_time.verify()
    assert settlements.expire("urgent") == 0
    assert reread(row.dedupe_key).state == DeliveryState.PENDING
    jump(0)
    verified_time.verify()
    assert settlements.expire("urgent") == 1


def test_a_retry_during_a_clock_jump_is_planned_in_verified_time(jump: Jump) -> None:
    for settle in (
        lambda delivery: settlements.record_retry(delivery, 40, "no"),
        lambda delivery: settlements.record_unknown(delivery, "broken"),
        lambda delivery: settlements.record_postponed(delivery, timedelta(seconds=40)),
    ):
        row = add()
        age(5, of=row)
        claimed = claims.claim("urgent", Channel.MESSAGING)
        assert claimed is not None
        jump(2 * HOURS)
        before = db_time.now()
        settle(claimed)
        row = reread(row.dedupe_key)
        assert row.state == DeliveryState.PENDING
        right_next_try_at = row.next_try_at + timedelta(hours=2)
        assert before < right_next_try_at <= db_time.now() + timedelta(seconds=40)
        jump(0)
        age(-7200, of=row)  # due in two hours, so the next claim does not take this row


@pytest.mark.parametrize("seconds", [2 * HOURS, -2 * HOURS])
def test_a_claim_during_a_clock_jump_has_a_full_lease(jump: Jump, seconds: float) -> None:
    row = add()
    age(seconds + 5, of=row)
    jump(seconds)
    claimed = claims.claim("urgent", Channel.MESSAGING)
    assert claimed is not None
    for called in (False, True):
        if called:
            claims.begin(claimed)
        for now in (db_time.now(), clock_jump.now()):
            assert reread(row.dedupe_key).next_try_at > now + timedelta(seconds=claims.CALL_S)


def test_a_clock_jump_is_accepted_after_ten_minutes(waited: Jump) -> None:
    start = db_time.now()
    for seconds in (10, 300, 600):
        waited(seconds)
        assert verified_time.jump_s == pytest.approx(600)
        assert abs(clock_jump.now() - start - timedelta(seconds=seconds)) < timedelta(seconds=1)
    waited(611)
    assert verified_time.jump_s == 0
    assert abs(clock_jump.now() - db_time.now()) < timedelta(seconds=1)


def test_a_delivery_due_by_the_new_time_is_sent_after_the_jump_is_accepted(gateway: Server, waited: Jump) -> None:
    row = add()
    age(-1100, of=row)
    for seconds, state in ((1, DeliveryState.PENDING), (300, DeliveryState.PENDING), (602, DeliveryState.SENT)):
        waited(seconds)
        jobs.drain("urgent")
        assert reread(row.dedupe_key).state == state


def test_a_second_clock_jump_restarts_the_ten_minutes_before_acceptance(
    committed: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, uptime = db_time.now(), clock_jump._uptime_s()

    def at(seconds: float, ahead: float) -> float:
        monkeypatch.setattr(clock_jump, "_uptime_s", lambda: uptime + seconds)
        monkeypatch.setattr(db_time, "now", lambda: start + timedelta(seconds=seconds + ahead))
        verified_time.verify()
        return round(verified_time.jump_s)

    assert [at(0, 0), at(10, 7200), at(500, 7200), at(550, 3600), at(700, 3600)] == [0, 7200, 7200, 3600, 3600]
    assert at(1100, 3600) == 3600
    assert at(1151, 3600) == 0


def test_a_clock_jump_is_logged_once_and_shown_in_metrics_and_worker_problems(
    jump: Jump, committed: Flask, caplog: pytest.LogCaptureFixture
) -> None:
    tick()
    gauge = "database_clock_step_seconds"
    assert f"{gauge} 0.0" in Client(committed).get("/metrics").get_data(as_text=True)
    jump(2 * HOURS)
    with caplog.at_level(logging.ERROR, logger=clock_jump.__name__):
        for _ in range(3):
            tick()
    assert [record.message for record in caplog.records] == ["the database's clock has jumped"]
    assert f"{gauge} 7200.0" in Client(committed).get("/metrics").get_data(as_text=True)
    assert any("has jumped by 7200 s" in problem for problem in delivery_metrics.worker_problems())


def test_a_slow_clock_drift_does_not_delay_a_delivery(gateway: Server, jump: Jump) -> None:
    for minutes in range(0, 60, 4):
        jump(minutes * 60.0)
        tick()
    row = add()
    age(5, of=row)
    jobs.drain("urgent")
    assert reread(row.dedupe_key).state == DeliveryState.SENT


def test_the_sweep_for_missed_occurrences_uses_the_verified_time(jump: Jump, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(pengingat_jobs.missed, "miss_overdue", seen.append)
    jump(2 * HOURS)
    pengingat_jobs.miss_overdue()
    assert abs(seen[0] + timedelta(hours=2) - db_time.now()) < timedelta(seconds=5)


def test_an_idle_tick_needs_at_most_one_statement(app: Flask, statements: object) -> None:
    verified_time.verify()
    with statements.at_most(1):  # type: ignore[attr-defined]
        jobs.enqueue_due()
