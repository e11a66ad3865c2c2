"""Codes short enough to be typed: made at random, kept as a hash under the service's secret, which a copy of the
database does not hold. Whoever takes one bounds how often it may be guessed."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

from app.core.settings import settings

#: Capitals and digits that nobody takes for one another.
ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"


def new_code(characters: int) -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(characters))


def new_digits(digits: int) -> str:
    return f"{secrets.randbelow(10**digits):0{digits}d}"


def normalise(text: str) -> str:
    """A code as people type it: blanks, hyphens and small letters make no difference."""
    return re.sub(r"[\s-]", "", text).upper()


def digest(purpose: str, code: str) -> str:
    """What is stored of a code. Equal codes of different purposes have different hashes."""
    return hmac.new(settings.secret_key.encode(), f"{purpose}:{code}".encode(), hashlib.sha256).hexdigest()
