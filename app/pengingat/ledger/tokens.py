"""Tokens of one-tap answers: 128 bits that nobody can guess, one for a person and a minute, kept as a hash.

They are made from the service's secret, so that everything that a person is reminded of at one minute has one link,
whichever of it is planned first. The token of a push turns into that of the link and not the other way round, which
tells by which of the two an answer came.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import UTC, datetime

from app.core.settings import settings

#: Bytes of a token: 22 characters.
BYTES = 16


def push_token(user_id: int, due_at: datetime) -> str:
    """What the push of a person and a minute carries."""
    subject = f"konfirmasi:{user_id}:{due_at.astimezone(UTC):%Y%m%dT%H%M}"
    return _text(hmac.new(settings.secret_key.encode(), subject.encode(), hashlib.sha256).digest())


def link_token_of(push: str) -> str:
    """The token of the link that belongs to a push."""
    return _text(hashlib.sha256(f"tautan:{push}".encode()).digest())


def hash_of(token: str) -> str:
    """How the ledger keeps a link's token."""
    return hashlib.sha256(token.encode()).hexdigest()


def link_of(token: str) -> str | None:
    """The address that a message ends with; None where nobody said how people reach this service."""
    return f"{settings.public_url}/k/{token}" if settings.public_url else None


def _text(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest[:BYTES]).rstrip(b"=").decode()
