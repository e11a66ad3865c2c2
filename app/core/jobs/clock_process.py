"""The clock as a child process of a worker: started with it, restarted when it dies, gone when the worker is gone."""

from __future__ import annotations

import logging
import os
import signal
import sys
from contextlib import suppress
from multiprocessing import get_context
from threading import Event, Thread
from types import TracebackType
from typing import Self

from flask import Flask

from app.core.database.session import db
from app.core.jobs import schedule

logger = logging.getLogger(__name__)

#: Seconds between the end of a clock and the start of the next: one that dies at once must not fork without end.
RESTART_S = 0.5


class ClockProcess:
    """Keeps one clock going while its block lasts.

    It is forked, as RQ forks its own scheduler and every job: it shares the application's memory and ticks within
    milliseconds.
    """

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._ended = Event()
        self._keeper = Thread(target=self._keep, name="clock-keeper", daemon=True)

    def __enter__(self) -> Self:
        self._start()  # before this process has a second thread: no lock can be held by one that the child lacks
        self._keeper.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        while self._keeper.is_alive():  # it may just have started another clock
            self._process.kill()
            self._keeper.join(0.1)

    def _start(self) -> None:
        process = get_context("fork").Process(target=_tick, args=(self._app, os.getpid()), name="clock", daemon=True)
        process.start()
        self._process = process

    def _keep(self) -> None:
        """Start a clock whenever one has ended.

        Python 3.12 and later deprecate a fork beside other threads, but this one cannot wait for the main thread, which
        may watch a job for minutes. It is safe: those threads use RQ's connection alone, the clock one of its own.
        """
        while True:
            self._process.join()
            if self._ended.wait(RESTART_S):
                return
            logger.warning("the clock ended (exit code %s) and is started again", self._process.exitcode)
            with suppress(OSError):  # no memory for a fork: tried again after the next wait
                self._start()


def _tick(app: Flask, worker: int) -> None:
    """The child's whole life: ticks until the worker, whose process id is given, is no longer its parent.

    So the clock of a killed worker goes with its next tick, and any number of clocks may tick beside one another.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the worker, which ends us
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with app.app_context():
            db.engine.dispose(close=False)
            app.extensions["autocommit"].dispose(close=False)
        schedule.run(app, going_on=lambda: os.getppid() == worker)
    except Exception:
        logger.exception("the clock broke")
        sys.exit(1)
