"""Rules for usernames."""

from __future__ import annotations

import re

PATTERN = re.compile(r"[A-Za-z0-9_.]{3,50}")

#: Usernames that nobody may have. `/admins/users` is a route, so a person named `users` could not be reached at
#: `/admins/<username>`.
RESERVED = frozenset({"users", "overview", "export", "caregiver-patient", "audit", "moderasi", "operasi"})


def problem(username: str) -> str | None:
    """Return an error message in Indonesian if a username is not allowed, else None.

    A username must have a letter and no `@`, so that it never looks like a phone number or an e-mail. People can log in
    with any of the three.
    """
    if not PATTERN.fullmatch(username):
        return "harus 3 sampai 50 karakter: huruf, angka, titik atau garis bawah."
    if not re.search(r"[A-Za-z]", username):
        return "harus mengandung sedikitnya satu huruf."
    if username.lower() in RESERVED:
        return "tidak dapat dipakai."
    return None
