"""Limits on the threads of this process that run the same expensive work, so that other requests find a free thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from app.core.errors import Unavailable


class Slots:
    """A semaphore. `concurrent` threads run, and others wait for `wait_s` seconds. Then they get 503 with `message`."""

    def __init__(self, concurrent: int, *, wait_s: float, message: str) -> None:
        self.concurrent, self.wait_s, self.message = concurrent, wait_s, message
        self._free = BoundedSemaphore(concurrent)

    @contextmanager
    def slot(self) -> Iterator[None]:
        if not self._free.acquire(timeout=self.wait_s):
            raise Unavailable(self.message)
        try:
            yield
        finally:
            self._free.release()
