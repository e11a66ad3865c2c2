"""The scheduler as a child process of a worker. The process starts and ends with the worker.

If the process dies, it is restarted.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.context import ForkContext, SpawnContext
from threading import Event, Thread
from types import TracebackType
from typing import ClassVar, Protocol, Self

from flask import Flask

from app.core.database.session import db
from app.core.jobs import schedule

logger = logging.getLogger(__name__)

#: Seconds to wait before a dead scheduler is restarted. Without the wait, a scheduler that always fails would restart
#: in a fast loop.
RESTART_S = 0.5


class WithApp(Protocol):
    """A worker class that has the Flask application. A new process imports this class by its name."""

    app: ClassVar[Flask]


class SchedulerProcess:
    """A context manager that keeps one scheduler process running during its block."""

    def __init__(self, worker: type[WithApp]) -> None:
        self._worker = worker
        self._ended = Event()
        self._keeper = Thread(target=self._keep, name="clock-keeper", daemon=True)

    def __enter__(self) -> Self:
        # A forked process shares the application's memory. It needs 19 MiB of its own instead of 114 MiB. Forking is
        # safe here, because no other thread runs yet.
        self._start(get_context("fork"))
        self._keeper.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        while self._keeper.is_alive():  # the thread `_keeper` may just have started another process
            self._process.kill()
            self._keeper.join(0.1)

    def _start(self, context: ForkContext | SpawnContext) -> None:
        process = context.Process(target=_tick, args=(self._worker, os.getpid()), name="clock", daemon=True)
        process.start()
        self._process = process

    def _keep(self) -> None:
        """Restart the scheduler whenever it ends. Use spawn, because fork is unsafe while other threads run."""
        while True:
            self._process.join()
            if self._ended.wait(RESTART_S):
                return
            logger.warning("the scheduler process exited (code %s) and is restarted", self._process.exitcode)
            with suppress(OSError):  # too little memory for a new process: try again after the next wait
                self._start(get_context("spawn"))


def _tick(worker: type[WithApp], parent: int) -> None:
    """Run a tick (one run of the scheduler) every second while the worker is the parent of this process.

    If the worker is killed, its scheduler ends at the next tick. Until then, several schedulers may run at the same
    time.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # after Ctrl-C, the worker ends this process
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with worker.app.app_context():
            db.engine.dispose(close=False)
        schedule.run(worker.app, going_on=lambda: os.getppid() == parent)
    except Exception:
        logger.exception("the scheduler stopped with an error")
        sys.exit(1)
