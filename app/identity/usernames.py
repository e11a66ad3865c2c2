"""Which usernames there can be."""

from __future__ import annotations

import re

PATTERN = re.compile(r"[A-Za-z0-9_.]{3,50}")

#: Path words of `/admins/`, where a username is a parameter.
RESERVED = frozenset({"users", "overview", "export", "caregiver-patient", "audit", "moderasi", "operasi"})


def problem(username: str) -> str | None:
    """Why nobody may be called so, in Indonesian; `None` when somebody may.

    With a letter and without `@` it can be mistaken for no phone number and no e-mail, so one login string never
    matches two people.
    """
    if not PATTERN.fullmatch(username):
        return "harus 3 sampai 50 karakter: huruf, angka, titik atau garis bawah."
    if not re.search(r"[A-Za-z]", username):
        return "harus mengandung sedikitnya satu huruf."
    if username.lower() in RESERVED:
        return "tidak dapat dipakai."
    return None
