"""Random codes that are short enough to type.

The database stores only the HMAC of a code. The HMAC key is not in the database, so a stolen copy of the database does
not help to guess codes. A route that accepts codes must limit the number of guesses.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

from app.core.settings import settings

#: Characters of codes. Letters and digits that look alike, such as O and 0, are left out.
ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"


def new_code(characters: int) -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(characters))


def normalise(text: str) -> str:
    """Return a code that a person typed, without blanks and hyphens, in upper case."""
    return re.sub(r"[\s-]", "", text).upper()


def digest(purpose: str, code: str) -> str:
    """Return the HMAC of a code for storage. Equal codes with different purposes have different HMACs."""
    return hmac.new(settings.secret_key.encode(), f"{purpose}:{code}".encode(), hashlib.sha256).hexdigest()
