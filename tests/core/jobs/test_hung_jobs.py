"""The process of a job that does not end when its time is up."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import rq.worker

from app.core.jobs.worker import HUNG_S, Worker


@pytest.mark.parametrize(("seconds", "killed"), [(10, 0), (35 + HUNG_S, 0), (35 + HUNG_S + 1, 1)])
def test_a_process_that_outlives_the_limit_of_its_job_is_killed(
    monkeypatch: pytest.MonkeyPatch, seconds: int, killed: int
) -> None:
    kills: list[int] = []
    monkeypatch.setattr(rq.worker.Worker, "maintain_heartbeats", lambda *_: None)
    monkeypatch.setattr(Worker, "kill_horse", lambda _: kills.append(1))
    worker = Worker.__new__(Worker)
    worker.current_job_working_time = seconds
    worker.maintain_heartbeats(SimpleNamespace(timeout=35, func_name="drain"))
    assert len(kills) == killed
