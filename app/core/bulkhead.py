"""Bulkheads: what is expensive may use so much of a process and no more, so that the rest of it goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition

from app.core.errors import AppError


class Bulkhead:
    """At most `concurrent` threads of this process at a time; others wait up to `wait_s` seconds for their turn."""

    def __init__(self, concurrent: int, *, wait_s: float, refusal: Callable[[], AppError]) -> None:
        """`refusal` makes the error for those whose turn does not come in time."""
        self.concurrent = concurrent
        self.wait_s = wait_s
        self.running = 0
        self._refusal = refusal
        self._changed = Condition()

    @contextmanager
    def slot(self) -> Iterator[None]:
        with self._changed:
            if not self._changed.wait_for(lambda: self.running < self.concurrent, self.wait_s):
                raise self._refusal()
            self.running += 1
        try:
            yield
        finally:
            with self._changed:
                self.running -= 1
                self._changed.notify()
