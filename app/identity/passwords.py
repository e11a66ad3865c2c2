"""Password hashes: argon2id at 46 MiB, one pass, one lane (47 ms on the reference machine)."""

from __future__ import annotations

import os
import secrets
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

T = TypeVar("T")

_hasher = PasswordHasher(time_cost=1, memory_cost=46 * 1024, parallelism=1)

#: How far the hashing thread steps back (`nice`). Logins then leave most of a busy core to the other requests.
NICENESS = 5


def hash_password(password: str) -> str:
    return _in_turn(lambda: _hasher.hash(password))


def matches(password: str, stored: str | None) -> bool:
    """Whether `password` belongs to the hash; nobody's (`None`) costs the same time and is never right."""

    def verify() -> bool:
        try:
            return _hasher.verify(stored or _nobody(), password) and stored is not None
        except (VerificationError, InvalidHashError):
            return False

    return _in_turn(verify)


def is_outdated(stored: str) -> bool:
    """Whether the hash was made with other parameters than today's."""
    return _hasher.check_needs_rehash(stored)


def _in_turn(work: Callable[[], T]) -> T:
    """A hash takes a core and 46 MiB: one at a time a process, in a thread that yields to the others."""
    return _hashing(os.getpid()).submit(work).result()


@cache
def _hashing(_process: int) -> ThreadPoolExecutor:
    """The one thread of this process; a forked child has none of its parent's, so it gets its own."""
    return ThreadPoolExecutor(1, "passwords", initializer=_step_back)


def _step_back() -> None:
    if sys.platform == "linux":  # elsewhere a priority belongs to the whole process
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


@cache
def _nobody() -> str:
    return _hasher.hash(secrets.token_urlsafe())
