"""The job that runs when Redis fails. The worker waits until the job ends, but not for ever."""

import subprocess
import sys
import time

from app.core.jobs import worker
from app.core.jobs.worker import Worker


def child(seconds):
    return subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({seconds})"], process_group=0)


def wait_for(process, monkeypatch):
    """Let a worker wait for this process as for a job. Return how many seconds the worker waited."""
    monkeypatch.setattr(Worker, "horse_pid", process.pid)
    monkeypatch.setattr(worker, "RETURN_S", 0.05)
    waiting = Worker.__new__(Worker)
    started = time.monotonic()
    waiting._wait_for_job()
    process.returncode = 0  # tell Popen that the exit status has been read
    return time.monotonic() - started


def test_a_worker_waits_for_its_last_job(monkeypatch):
    assert wait_for(child(0.5), monkeypatch) > 0.3


def test_a_job_that_hangs_is_killed_after_a_while(monkeypatch):
    monkeypatch.setattr(worker, "LAST_JOB_S", 0.2)
    monkeypatch.setattr(Worker, "log", worker.logger, raising=False)
    monkeypatch.setattr(Worker, "name", "w", raising=False)
    assert wait_for(child(60), monkeypatch) < 10
