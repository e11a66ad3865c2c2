"""Password hashes: argon2id at 46 MiB, one pass, one lane (47 ms on the reference machine)."""

from __future__ import annotations

import secrets
from functools import cache
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

_hasher = PasswordHasher(time_cost=1, memory_cost=46 * 1024, parallelism=1)

#: Hashing takes a core and 46 MiB. One at a time a process, for more would leave too little to the other requests:
_turns = BoundedSemaphore(1)


def hash_password(password: str) -> str:
    with _turns:
        return _hasher.hash(password)


def matches(password: str, stored: str | None) -> bool:
    """Whether `password` belongs to the hash; nobody's (`None`) costs the same time and is never right."""
    with _turns:
        try:
            return _hasher.verify(stored or _nobody(), password) and stored is not None
        except (VerificationError, InvalidHashError):
            return False


def is_outdated(stored: str) -> bool:
    """Whether the hash was made with other parameters than today's."""
    return _hasher.check_needs_rehash(stored)


@cache
def _nobody() -> str:
    return _hasher.hash(secrets.token_urlsafe())
