"""Circuit breaker: stops calls to a host that is down, so that its timeouts do not block all threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

#: Maximum number of hosts with recorded failures. Web push alone calls many hosts.
_MAX_HOSTS = 1000


@dataclass
class _Trouble:
    failures: int = 0
    rests_until: float = 0.0


class Breaker:
    """Circuit breaker: block a host for `REST_S` seconds after `FAILURES` failures in a row. Then allow one call."""

    FAILURES = 5
    REST_S = 5.0

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._hosts: dict[str, _Trouble] = {}

    def allows(self, host: str) -> bool:
        """Return whether the host may be called now. After a pause, only one caller gets True and tries the host."""
        with self._lock:
            trouble = self._hosts.get(host)
            if trouble is None or trouble.failures < self.FAILURES:
                return True
            now = self._clock()
            if now < trouble.rests_until:
                return False
            trouble.rests_until = now + self.REST_S
            return True

    def record(self, host: str, *, down: bool) -> None:
        with self._lock:
            if not down:
                self._hosts.pop(host, None)
                return
            if len(self._hosts) >= _MAX_HOSTS and host not in self._hosts:
                self._hosts.clear()
            trouble = self._hosts.setdefault(host, _Trouble())
            trouble.failures += 1
            if trouble.failures >= self.FAILURES:
                trouble.rests_until = self._clock() + self.REST_S
