"""NIK (and the secrets of second factors) at rest: AES-256-GCM, bound to its person, under keys that can be changed.

Stored form: `v1:<key id>:<base64 of nonce and ciphertext>`. The user's id is the associated data, so a ciphertext moved
to another person's row does not decrypt. A value without this form is a legacy one and is returned as it is.
"""

from __future__ import annotations

import base64
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from app.core.settings import settings

VERSION = "v1"
NONCE_BYTES = 12
#: What a ciphertext is, beside whose: one kind does not pass for another.
KIND = "nik"


#: What a new one looks like, and what people read of one that does not. Legacy values of any form stay.
FORM = "[0-9]{16}"
WRONG_FORM = "harus 16 digit angka."


class UndecryptableNik(Exception):
    """The stored value is another person's, was encrypted with a key that is not configured, or was altered."""


def encrypt(nik: str, user_id: int, *, kind: str = KIND) -> str:
    """The stored form of a NIK, under the first of the configured keys; of another `kind` of secret, bound to that."""
    kid, key = settings.nik_keys[0]
    nonce = os.urandom(NONCE_BYTES)
    sealed = nonce + AESGCM(key).encrypt(nonce, nik.encode(), _bound_to(user_id, kind))
    return f"{VERSION}:{kid}:{base64.b64encode(sealed).decode()}"


def stored_prefix() -> str:
    """How everything begins that is stored under the first of the configured keys."""
    return f"{VERSION}:{settings.nik_keys[0][0]}:"


def decrypt(stored: str | None, user_id: int, *, kind: str = KIND) -> str | None:
    """The NIK in plain text, a legacy value as it is, `None` without one. Raises `UndecryptableNik`."""
    if stored is None or not stored.startswith(f"{VERSION}:"):
        return stored
    kid, _, encoded = stored.removeprefix(f"{VERSION}:").partition(":")
    key = dict(settings.nik_keys).get(kid)
    if key is None:
        raise UndecryptableNik(f"key {kid} is not configured")
    try:
        sealed = base64.b64decode(encoded, validate=True)
        return AESGCM(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], _bound_to(user_id, kind)).decode()
    except (InvalidTag, ValueError):
        raise UndecryptableNik("the ciphertext is not this person's") from None


def _bound_to(user_id: int, kind: str) -> bytes:
    return f"{kind}:{user_id}".encode()
