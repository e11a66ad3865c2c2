"""Waiting for what other processes and threads do."""

from __future__ import annotations

import time
from collections.abc import Callable


def eventually(condition: Callable[[], bool], seconds: float = 20) -> bool:
    """Whether the condition comes to hold within the time."""
    stop = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > stop:
            return False
        time.sleep(0.05)
    return True


def wait_until(condition: Callable[[], bool], seconds: float = 20) -> None:
    assert eventually(condition, seconds), "it never came about"
