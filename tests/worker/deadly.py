"""Worker that kills itself with SIGKILL during jobs of one kind.

The first job of this kind is killed after `STEP` events. Each later job is killed `STEP` events later than the job
before. An event is the start of a statement, a commit, or the renaming or deletion of a file. At last, a job has fewer
events and is not killed. From then on, the number of events stays the same.

The scheduler runs the sweeps for erasures and exports every second.
"""

import os
import signal
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from sqlalchemy import Engine, event

import worker
from app.personal_data import jobs

#: Settings that the command line of `rq` reads from this module.
QUEUES, REDIS_URL = worker.QUEUES, worker.REDIS_URL

FATED = os.environ["DEADLY_JOB"]
STEP = int(os.environ["DEADLY_STEP"])
#: File that gets one byte for each kill.
KILLS = Path(os.environ["DEADLY_KILLS"])

FILE_MOMENTS = ("os.rename", "os.remove", "os.rmdir")

jobs.RETRY = timedelta(seconds=0.1)
jobs.MAX_DOUBLINGS = 0
schedule = worker.app.extensions["schedule"]
schedule.periodic = [
    replace(periodic, every_s=1) if periodic.job in (jobs.erase_due, jobs.make_waiting_exports) else periodic
    for periodic in schedule.periodic
]


class Death:
    """Kills this process after `moments` events."""

    def __init__(self, moments):
        self._left = moments

    def lie_in_wait(self):
        for name in ("before_cursor_execute", "commit"):
            event.listen(Engine, name, self._come_nearer)
        sys.addaudithook(lambda name, _: self._come_nearer() if name in FILE_MOMENTS else None)

    def _come_nearer(self, *_):
        self._left -= 1
        if self._left == 0:
            with KILLS.open("ab") as kills:
                kills.write(b".")
            os.kill(os.getpid(), signal.SIGKILL)


class Job(worker.Job):
    """A job of the worker in this module. A job of the kind `FATED` kills its own process."""

    def perform(self):
        if self.func_name == FATED:
            Death(STEP * (KILLS.stat().st_size + 1)).lie_in_wait()
        return super().perform()


class Worker(worker.Worker):
    """A worker that runs the jobs of this module."""

    job_class = Job
