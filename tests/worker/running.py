"""A real `rq worker` process, started as in production."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil

from config import ROOT
from dev.stack.waiting import PATIENCE_S, wait_until


class RunningWorker:
    """One worker process with its log."""

    def __init__(self, env, log, module, *queues):
        self.log = log
        self._file = log.open("wb")
        rq = Path(sys.executable).parent / "rq"
        self.process = subprocess.Popen(
            [str(rq), "worker", "-c", module, "-w", f"{module}.Worker", *queues],
            cwd=ROOT,
            env={**os.environ, **env},
            stderr=self._file,
            stdout=self._file,
            start_new_session=True,
        )

    @property
    def pid(self):
        return self.process.pid

    def children(self):
        return [child.pid for child in psutil.Process(self.pid).children()]

    def clock(self):
        """Wait for the scheduler process and return its id.

        The scheduler process is a fork of the worker, so both have the same command line.
        """
        found = []

        def is_there():
            worker = psutil.Process(self.pid)
            with suppress(psutil.Error):  # a job has ended meanwhile
                found[:] = [child.pid for child in worker.children() if child.cmdline() == worker.cmdline()]
            return bool(found)

        wait_until(is_there)
        return found[0]

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            self._file.close()

    def kill(self):
        """Kill the worker, its scheduler and its job. The job has its own process group, so it is killed separately."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGSTOP)  # a stopped worker forks no more processes
            for child in self.children():
                os.kill(child, signal.SIGKILL)
        self.end(signal.SIGKILL)
        with suppress(ProcessLookupError):  # kill the scheduler too, because it would end only at its next tick
            os.killpg(self.pid, signal.SIGKILL)


def is_running(pid):
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False
