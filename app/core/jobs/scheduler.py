"""The clock as a child process of a worker: started with it, restarted when it dies, gone when the worker is gone."""

from __future__ import annotations

import ctypes
import logging
import os
import random
import signal
import sys
from contextlib import suppress
from threading import Event, Thread
from types import TracebackType
from typing import Self

from flask import Flask

from app.core.database.session import db
from app.core.jobs import schedule

logger = logging.getLogger(__name__)

#: A clock that dies at once must not make its worker fork without end.
RESTART_S = 0.5
PR_SET_PDEATHSIG = 1


class ClockProcess:
    """Keeps one clock going while its block lasts.

    It is forked, not started anew: it shares the application's memory and ticks within milliseconds.
    """

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._ended = Event()
        self._pid = 0
        # The kernel ends the clock with the thread that forked it, so one thread does all forks.
        self._keeper = Thread(target=self._keep, name="clock-keeper", daemon=True)

    def __enter__(self) -> Self:
        self._keeper.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._kill()
        self._keeper.join(timeout=5)

    def _kill(self) -> None:
        if self._pid:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

    def _keep(self) -> None:
        while not self._ended.is_set():
            parent = os.getpid()
            self._pid = os.fork()
            if self._pid == 0:
                self._tick(parent)
            if self._ended.is_set():  # between the look and the fork
                self._kill()
            _, status = os.waitpid(self._pid, 0)
            self._pid = 0
            if not self._ended.wait(RESTART_S):
                logger.warning("the clock ended (status %s) and is started again", status)

    def _tick(self, parent: int) -> None:
        """The child's whole life."""
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the worker, which ends us
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            _die_with_parent()
            random.seed()
            with self._app.app_context():
                db.engine.dispose(close=False)
                self._app.extensions["autocommit"].dispose(close=False)
            schedule.run(self._app, going_on=lambda: os.getppid() == parent)
        except BaseException:
            logger.exception("the clock broke")
            os._exit(1)
        finally:
            os._exit(0)


def _die_with_parent() -> None:
    """Linux ends us with our parent even by SIGKILL; elsewhere the next tick sees that it is gone."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
