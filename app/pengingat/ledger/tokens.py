"""Tokens for answers to reminders without a login.

All reminders of a person that are due in the same minute share one push token and one link token. The push token is
derived from the service's secret key, and the link token from the push token. Each token has 128 bits. The ledger
(table `occurrences`) stores only the hash of the link token.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import UTC, datetime

from app.core.settings import settings

#: Number of bytes of a token. In base64, a token has 22 characters.
BYTES = 16


def push_token(user_id: int, due_at: datetime) -> str:
    """Return the token for push messages to this person about reminders due at this minute."""
    subject = f"konfirmasi:{user_id}:{due_at.astimezone(UTC):%Y%m%dT%H%M}"
    return _text(hmac.new(settings.secret_key.encode(), subject.encode(), hashlib.sha256).digest())


def link_token_of(push: str) -> str:
    """Return the link token that belongs to a push token."""
    return _text(hashlib.sha256(f"tautan:{push}".encode()).digest())


def hash_of(token: str) -> str:
    """Return the hash of a link token, as the ledger stores it."""
    return hashlib.sha256(token.encode()).hexdigest()


def link_of(token: str) -> str | None:
    """Return the web address that a message ends with, or None if the setting `public_url` is empty."""
    return f"{settings.public_url}/k/{token}" if settings.public_url else None


def _text(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest[:BYTES]).rstrip(b"=").decode()
