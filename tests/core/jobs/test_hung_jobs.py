"""The process of a job that does not end when its time is up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
import rq.worker
from redis.exceptions import ConnectionError as RedisConnectionError
from rq.exceptions import StopRequested
from rq.timeouts import HorseMonitorTimeoutException
from rq.worker import worker_classes

from app.core.jobs import worker as workers
from app.core.jobs.worker import HUNG_S, LOOK_S, STANDSTILL_S, Worker
from app.notifications.delivery.drain import LAST_S
from app.notifications.delivery.parking import SETTLE_WITHIN_S
from app.providers import messaging, webpush

LIMIT_S = 35


def kills_of(
    monkeypatch: pytest.MonkeyPatch,
    *jobs: Sequence[float],
    wall: Callable[[float], float] = lambda lived_s: lived_s,
    redis: Callable[..., None] = lambda *_: None,
) -> list[float]:
    """When jobs of `LIMIT_S`, one after the other, are killed by a worker that looks at these of their seconds, in RQ's
    own loop.

    `wall`: what the wall clock says has gone by then.
    """
    now = start = 0.0
    kills: list[float] = []
    coming = iter(jobs[0])

    def wait(_: Worker) -> None:
        nonlocal now
        seconds = next(coming, None)
        if seconds is None:
            raise StopRequested
        now = start + seconds
        raise HorseMonitorTimeoutException

    for name in ("maintain_heartbeats", "heartbeat"):
        monkeypatch.setattr(rq.worker.Worker, name, redis)
    monkeypatch.setattr(Worker, "wait_for_horse", wait)
    monkeypatch.setattr(Worker, "kill_horse", lambda _: kills.append(now - start))
    monkeypatch.setattr(workers, "monotonic", lambda: now)
    monkeypatch.setattr(
        worker_classes, "now", lambda: datetime(2026, 3, 2, tzinfo=UTC) + timedelta(seconds=wall(now - start))
    )
    worker = Worker.__new__(Worker)
    worker.job_monitoring_interval, worker.name = 60, "worker"
    worker.connection = SimpleNamespace(hset=redis)  # type: ignore[assignment]
    for looks in jobs:
        start = now = now + 1000.0
        coming = iter(looks)
        with pytest.raises(StopRequested):
            worker.monitor_work_horse(SimpleNamespace(timeout=LIMIT_S, func_name="drain"), None)  # type: ignore[arg-type]
    return kills


@pytest.mark.parametrize(("last", "killed"), [(10, 0), (LIMIT_S + HUNG_S, 0), (LIMIT_S + HUNG_S + 1, 1)])
def test_a_process_that_outlives_the_limit_of_its_job_is_killed(
    monkeypatch: pytest.MonkeyPatch, last: int, killed: int
) -> None:
    assert len(kills_of(monkeypatch, [*range(0, last, LOOK_S), last])) == killed


def test_no_process_is_killed_while_it_records_what_is_under_way() -> None:
    """A drain whose alarm rings gives its calls `LAST_S`, of which each may have begun just now."""
    for budget_s in (messaging.BUDGET_S, webpush.BUDGET_S):
        assert budget_s + SETTLE_WITHIN_S <= LAST_S < HUNG_S


def test_time_in_which_the_worker_stood_still_is_not_its_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that was paused for 25 seconds, while calls were under way."""
    looks = [5, 10, 15, 41, 46, 51, 56, 61, 66]
    assert kills_of(monkeypatch, looks) == []
    assert kills_of(monkeypatch, [*looks, 69]) == [69]


def test_a_look_right_after_a_standstill_kills_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was paused together may be recording its answers; it hangs if the next look finds it so."""
    looks = [*range(5, LIMIT_S + HUNG_S, LOOK_S), LIMIT_S + HUNG_S + LOOK_S + STANDSTILL_S]
    assert kills_of(monkeypatch, looks) == []
    assert kills_of(monkeypatch, [*looks, looks[-1] + LOOK_S]) == [looks[-1] + LOOK_S]


@pytest.mark.parametrize("step_s", [600, -600])
def test_a_step_of_the_wall_clock_neither_kills_nor_spares(monkeypatch: pytest.MonkeyPatch, step_s: int) -> None:
    hung = [s for s in range(LOOK_S, 60, LOOK_S) if s > LIMIT_S + HUNG_S]
    kills = kills_of(monkeypatch, range(LOOK_S, 60, LOOK_S), wall=lambda lived_s: lived_s + step_s * (lived_s > 7))
    assert kills == hung


def test_a_hung_process_is_killed_while_redis_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise RedisConnectionError("away")

    assert kills_of(monkeypatch, [*range(0, 50, LOOK_S), 50], redis=away) == [50]


def test_each_job_has_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the worker lived through with the job before, and since, is none of the next one's."""
    assert kills_of(monkeypatch, range(0, 45, LOOK_S), [*range(0, 50, LOOK_S), 50]) == [50]
