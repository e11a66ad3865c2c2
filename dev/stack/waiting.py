"""Functions that wait for other processes and threads.

No test result may depend on the speed of the machine. A test waits for an event, checks the order of events, or counts
events. Only the benchmarks in `bench/` measure durations.
"""

from __future__ import annotations

import time
from collections.abc import Callable

#: Maximum seconds that a test waits for an event. On an idle machine events take a few seconds.
PATIENCE_S = 180.0


def eventually(condition: Callable[[], bool], seconds: float = PATIENCE_S) -> bool:
    """Wait until the condition is true. Return whether it was true within `seconds`."""
    stop = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > stop:
            return False
        time.sleep(0.05)
    return True


def wait_until(condition: Callable[[], bool], seconds: float = PATIENCE_S) -> None:
    assert eventually(condition, seconds), "it never came about"
