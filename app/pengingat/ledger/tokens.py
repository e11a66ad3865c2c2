"""Tokens for answers to reminders without a login.

Each message and each push has its own token. It is derived from the row of the delivery and the service's secret key,
so that a repeat carries the same link. A token has 128 bits. The row stores only the hash of the token.
"""

from __future__ import annotations

import base64
import hashlib
import hmac

from app.core.settings import settings

#: Number of bytes of a token. In base64, a token has 22 characters.
BYTES = 16


def token_of(delivery_id: int, dedupe_key: str) -> str:
    """Return the token of a delivery."""
    subject = f"konfirmasi:{delivery_id}:{dedupe_key}"
    digest = hmac.new(settings.secret_key.encode(), subject.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest[:BYTES]).rstrip(b"=").decode()


def hash_of(token: str) -> str:
    """Return the hash of a token, as the delivery stores it."""
    return hashlib.sha256(token.encode()).hexdigest()


def link_of(token: str) -> str | None:
    """Return the web address that a message ends with, or None if the setting `public_url` is empty."""
    return f"{settings.public_url}/k/{token}" if settings.public_url else None
