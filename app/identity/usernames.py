"""Rules for usernames."""

from __future__ import annotations

import re

PATTERN = re.compile(r"[A-Za-z0-9_.]{3,50}")

#: Path segments below `/admins/`, where a username is a path parameter.
RESERVED = frozenset({"users", "overview", "export", "caregiver-patient", "audit", "moderasi", "operasi"})


def problem(username: str) -> str | None:
    """Return in Indonesian why a username is not allowed, or None if it is allowed.

    A username has a letter and no `@`, so it never looks like a phone number or an e-mail. One login text therefore
    never matches two people.
    """
    if not PATTERN.fullmatch(username):
        return "harus 3 sampai 50 karakter: huruf, angka, titik atau garis bawah."
    if not re.search(r"[A-Za-z]", username):
        return "harus mengandung sedikitnya satu huruf."
    if username.lower() in RESERVED:
        return "tidak dapat dipakai."
    return None
