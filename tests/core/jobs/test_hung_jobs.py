"""The process of a job that does not end when its time is up."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import rq.worker

from app.core.jobs.worker import HUNG_S, LOOK_S, Worker


def kills_of(monkeypatch: pytest.MonkeyPatch, *looks: int) -> int:
    """How often a job of 35 seconds is killed by a worker that looks at these seconds of its."""
    kills: list[int] = []
    monkeypatch.setattr(rq.worker.Worker, "maintain_heartbeats", lambda *_: None)
    monkeypatch.setattr(Worker, "kill_horse", lambda _: kills.append(1))
    worker = Worker.__new__(Worker)
    for seconds in looks:
        worker.current_job_working_time = seconds
        worker.maintain_heartbeats(SimpleNamespace(timeout=35, func_name="drain"))
    return len(kills)


@pytest.mark.parametrize(("last", "killed"), [(10, 0), (35 + HUNG_S, 0), (35 + HUNG_S + 1, 1)])
def test_a_process_that_outlives_the_limit_of_its_job_is_killed(
    monkeypatch: pytest.MonkeyPatch, last: int, killed: int
) -> None:
    assert kills_of(monkeypatch, *range(0, last, LOOK_S), last) == killed


def test_time_in_which_the_worker_stood_still_is_not_its_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that was paused for 25 seconds, while calls were under way."""
    looks = [5, 10, 15, 41, 46, 51, 56, 61]
    assert kills_of(monkeypatch, *looks) == 0
    assert kills_of(monkeypatch, *looks, 62) == 1
