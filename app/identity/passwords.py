"""Rules for passwords, and the hashes of passwords.

A hash (Argon2id with 46 MiB of memory, one pass and one lane) takes 47 ms on the reference machine.
"""

from __future__ import annotations

import re
import secrets
from functools import cache
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from app.core.settings import settings
from app.core.slots import Slots
from app.identity import phones

HASHER = PasswordHasher(time_cost=1, memory_cost=46 * 1024, parallelism=1)

#: A hash needs a core and 46 MiB of memory, so a process computes one at a time. A request waits this many seconds.
HASHING = Slots(1, wait_s=2, message="Terlalu banyak orang sedang masuk. Silakan coba beberapa saat lagi.")


#: File with the 10,000 most common passwords of at least 6 characters, from the package zxcvbn 4.5.0 (MIT).
COMMON = Path(__file__).parent / "data" / "common_passwords.txt"

#: Password of the demo accounts. The README shows it, so it counts as common.
DEMO = "rahasia123"
#: Passwords that are common in Indonesia but are not in the file `COMMON`.
COMMON_HERE = frozenset({DEMO, "rahasia", "indonesia", "indonesia123", "katasandi", "katasandi123"})


def problem(password: str, *, username: str, phone: str | None) -> str | None:
    """Return an error message in Indonesian if a password is too easy to guess, else None. `phone` is in E.164 form.

    Outside production, each password is allowed.
    """
    if not settings.is_production:
        return None
    lowered = password.lower()
    if lowered == username.lower() or _is_part_of(phone, password):
        return "tidak boleh sama dengan nama pengguna atau nomor HP."
    if lowered in (lowered * 2)[1:-1]:
        return "tidak boleh hanya berisi pengulangan."
    if lowered in _common():
        return "terlalu mudah ditebak karena dipakai banyak orang."
    return None


def _is_part_of(phone: str | None, password: str) -> bool:
    """Return whether the password is the person's phone number, or the last digits of this number."""
    digits = re.sub(r"\D", "", password).lstrip("0")
    return bool(phone and digits and phones.is_written_as_number(password) and phone.endswith(digits))


@cache
def _common() -> frozenset[str]:
    return COMMON_HERE.union(COMMON.read_text(encoding="utf-8").splitlines())


def hash_password(password: str) -> str:
    with HASHING.slot():
        return HASHER.hash(password)


def matches(password: str, stored: str | None) -> bool:
    """Return whether `password` matches the hash `stored`. If `stored` is None, return False after the same time."""

    with HASHING.slot():
        try:
            return HASHER.verify(stored or _decoy_hash(HASHER), password) and stored is not None
        except (VerificationError, InvalidHashError):
            return False


def is_outdated(stored: str) -> bool:
    return HASHER.check_needs_rehash(stored)


@cache
def _decoy_hash(hasher: PasswordHasher) -> str:
    return hasher.hash(secrets.token_urlsafe())
