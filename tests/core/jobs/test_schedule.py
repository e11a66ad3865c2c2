"""Scheduler: a failing tick function does not stop the others, and several schedulers enqueue a periodic job once."""

import logging
from unittest.mock import Mock

from redis.exceptions import ConnectionError as RedisConnectionError
from rq import Queue
from rq.serializers import JSONSerializer

from app.core.jobs import schedule
from app.core.jobs.queue import BULK, connection
from app.core.jobs.schedule import HEARTBEAT, Periodic, Scheduler
from app.identity import jobs

away = Mock(side_effect=RedisConnectionError)


def broken():
    raise ValueError("broken")


def enqueued():
    return [str(job.func_name) for job in Queue(BULK, connection=connection(), serializer=JSONSerializer).jobs]


def test_other_ticks_and_periodic_jobs_run_after_a_failing_tick(app):
    seen = []
    clock = Scheduler((broken, lambda: seen.append("ticked")), (Periodic(jobs.delete_expired_sessions, every_s=60),))
    clock.tick()
    assert seen == ["ticked"]
    assert enqueued() == ["app.identity.jobs.delete_expired_sessions"]
    assert connection().exists(HEARTBEAT)


def test_a_repeated_tick_failure_is_logged_once_per_interval(app, caplog, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(schedule, "monotonic", lambda: now[0])
    clock = Scheduler((broken,), ())
    with caplog.at_level(logging.ERROR, logger=schedule.__name__):
        for _ in range(3):
            clock.tick()
        now[0] += schedule.LOG_AGAIN_S
        clock.tick()
    assert len(caplog.records) == 2


def test_two_schedulers_enqueue_a_periodic_job_once_per_period(app):
    periodic = (Periodic(jobs.delete_expired_sessions, every_s=60),)
    for clock in (Scheduler((), periodic), Scheduler((), periodic)):
        clock.tick()
        clock.tick()
    assert len(enqueued()) == 1


def test_a_failed_enqueue_delays_a_daily_job_by_less_than_a_minute(app, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(schedule, "monotonic", lambda: now[0])
    daily = (Periodic(jobs.delete_expired_sessions, every_s=86400),)
    ending, other = Scheduler((), daily), Scheduler((), daily)
    with monkeypatch.context() as patch:
        patch.setattr(schedule, "enqueue_once_now", away)
        ending.tick()
    (turn,) = connection().keys("every:*")
    # The remaining lifetime of the key. The other scheduler waits at most this time.
    left_ms = connection().pttl(turn)
    assert left_ms < 60_000
    other.tick()  # the key still exists, so the other scheduler enqueues nothing
    now[0] += left_ms / 1000
    connection().delete(turn)  # simulates the expiry of the key
    other.tick()
    assert enqueued() == ["app.identity.jobs.delete_expired_sessions"]
    assert connection().pttl(turn) > 86_000_000


def test_ticks_continue_while_redis_is_unavailable(app, monkeypatch):
    seen = []
    monkeypatch.setattr(schedule, "connection", away)
    clock = Scheduler((lambda: seen.append(1),), (Periodic(jobs.delete_expired_sessions, every_s=60),))
    clock.tick()
    clock.tick()
    assert seen == [1, 1]
