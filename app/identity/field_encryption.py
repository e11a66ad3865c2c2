"""Encryption of national ids (NIK) and of second-factor secrets with AES-256-GCM. The keys can be replaced.

The stored form is `v1:<key id>:<base64 of nonce and ciphertext>`. A value without this form is a legacy value in plain
text. The user's id is the associated data, so a ciphertext cannot be copied to another person's row.
"""

from __future__ import annotations

import base64
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from app.core.settings import settings

VERSION = "v1"
NONCE_BYTES = 12
#: Default kind of secret. The kind is part of the associated data, so a NIK cannot be decrypted as another kind.
FIELD = "nik"


#: Regular expression for a new NIK. Stored legacy values may have another form.
FORM = "[0-9]{16}"
WRONG_FORM = "harus 16 digit angka."


class UndecryptableField(Exception):
    """Error: the stored value belongs to another person, was encrypted with a missing key, or was altered."""


def encrypt(text: str, user_id: int, *, field: str = FIELD) -> str:
    """Encrypt a secret of a person with the first configured key, and return its stored form."""
    kid, key = settings.nik_keys[0]
    nonce = os.urandom(NONCE_BYTES)
    sealed = nonce + AESGCM(key).encrypt(nonce, text.encode(), _bound_to(user_id, field))
    return f"{VERSION}:{kid}:{base64.b64encode(sealed).decode()}"


def stored_prefix() -> str:
    """Return the prefix of stored values that are encrypted with the first configured key."""
    return f"{VERSION}:{settings.nik_keys[0][0]}:"


def decrypt(stored: str | None, user_id: int, *, field: str = FIELD) -> str | None:
    """Return the plain text of a stored value. Return a legacy value or None unchanged.

    Raise `UndecryptableField` on failure.
    """
    if stored is None or not stored.startswith(f"{VERSION}:"):
        return stored
    kid, _, encoded = stored.removeprefix(f"{VERSION}:").partition(":")
    key = dict(settings.nik_keys).get(kid)
    if key is None:
        raise UndecryptableField(f"key {kid} is not configured")
    try:
        sealed = base64.b64decode(encoded, validate=True)
        return AESGCM(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], _bound_to(user_id, field)).decode()
    except (InvalidTag, ValueError):
        raise UndecryptableField("the ciphertext is not this person's") from None


def _bound_to(user_id: int, field: str) -> bytes:
    return f"{field}:{user_id}".encode()
