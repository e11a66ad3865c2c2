"""Random codes that are short enough to type.

The database has only their HMAC, and the HMAC key is not in the database. So a copy is not enough to guess a code.
A route that accepts codes must limit the number of guesses.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

from app.core.settings import settings

#: Capital letters and digits that are not easily confused.
ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"


def new_code(characters: int) -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(characters))


def new_digits(digits: int) -> str:
    return f"{secrets.randbelow(10**digits):0{digits}d}"


def normalise(text: str) -> str:
    """Return a typed code without blanks and hyphens, in upper case."""
    return re.sub(r"[\s-]", "", text).upper()


def digest(purpose: str, code: str) -> str:
    """Return the hash of a code for storage. Equal codes of different purposes have different hashes."""
    return hmac.new(settings.secret_key.encode(), f"{purpose}:{code}".encode(), hashlib.sha256).hexdigest()
