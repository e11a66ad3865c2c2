"""Waiting for what other processes and threads do.

No verdict may depend on how fast the machine is: a test waits for an event, looks at the order of events, or counts
them. How long something takes is measured by `bench/`.
"""

from __future__ import annotations

import time
from collections.abc import Callable

#: Seconds after which an event is taken for one that never comes. On an idle machine each comes within a few.
PATIENCE_S = 180.0


def eventually(condition: Callable[[], bool], seconds: float = PATIENCE_S) -> bool:
    """Whether the condition comes to hold within the time."""
    stop = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > stop:
            return False
        time.sleep(0.05)
    return True


def wait_until(condition: Callable[[], bool], seconds: float = PATIENCE_S) -> None:
    assert eventually(condition, seconds), "it never came about"
