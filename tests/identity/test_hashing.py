"""Password hashing.

The computation of a hash uses a whole CPU core. So a process computes one hash at a time, and only a few threads may
wait for their hash.
"""

from __future__ import annotations

import threading
import time

import pytest

from app.core.errors import Unavailable
from app.identity import passwords
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import PASSWORD, make_user


class Slow:
    """Threads that occupy `HASHING` until `end` is set. They act like slow password hashes."""

    def __init__(self, threads: int) -> None:
        self.end = threading.Event()
        self.results: list[None] = []
        self._threads = [threading.Thread(target=self._run) for _ in range(threads)]
        for number, thread in enumerate(self._threads, 1):
            thread.start()
            while passwords.HASHING.running < number:
                time.sleep(0.001)

    def _run(self) -> None:
        passwords._in_hashing_thread(self.end.wait)
        self.results.append(None)

    def finish(self) -> None:
        self.end.set()
        for thread in self._threads:
            thread.join()


def test_a_seventh_concurrent_password_hash_is_refused_with_retry_after() -> None:
    slow = Slow(6)
    try:
        with pytest.raises(Unavailable) as refused:
            passwords.matches("rahasia123", None)
        assert refused.value.retry_after
        assert not slow.results
    finally:
        slow.finish()
    assert len(slow.results) == 6
    assert passwords.matches("rahasia123", passwords.hash_password("rahasia123"))


def test_a_login_while_the_hashing_queue_is_full_is_503_with_retry_after(client: Client) -> None:
    make_user(username="siti")
    slow = Slow(6)
    try:
        refused = client.post("/login", {"username": "siti", "password": PASSWORD})
    finally:
        slow.finish()
    assert_error(refused, 503, "service_unavailable")
    assert int(refused.headers["Retry-After"]) > 0
    assert client.post("/login", {"username": "siti", "password": PASSWORD}).status_code == 200
