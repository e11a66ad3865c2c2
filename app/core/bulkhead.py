"""Limits on the threads that expensive work may use, so that other requests still find a free thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from threading import Condition

from app.core.errors import AppError


class Bulkhead:
    """A limit on the threads of this process that run the same work.

    At most `concurrent` threads run. At most `max_waiting` others wait, for up to `wait_s` seconds. Further callers get
    the error of `refusal` at once, because a waiting thread cannot serve other requests.
    """

    def __init__(
        self, concurrent: int, *, wait_s: float, refusal: Callable[[], AppError], max_waiting: float = inf
    ) -> None:
        """Store the limits. `refusal` creates the error for a caller that may neither run nor wait any longer."""
        self.concurrent = concurrent
        self.wait_s = wait_s
        self.max_waiting = max_waiting
        self.running = 0
        self.waiting = 0
        self._refusal = refusal
        self._changed = Condition()

    @contextmanager
    def slot(self) -> Iterator[None]:
        with self._changed:
            if self.running >= self.concurrent:
                self._wait()
            self.running += 1
        try:
            yield
        finally:
            with self._changed:
                self.running -= 1
                self._changed.notify()

    def _wait(self) -> None:
        if self.waiting >= self.max_waiting:
            raise self._refusal()
        self.waiting += 1
        try:
            if not self._changed.wait_for(lambda: self.running < self.concurrent, self.wait_s):
                raise self._refusal()
        finally:
            self.waiting -= 1
