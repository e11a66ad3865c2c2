"""Encryption of words that are stored nowhere else, such as a reset link, until their delivery is settled."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from app.identity import field_encryption

#: The words of a delivery: the `text` and `parts` of a message, see `message_format`, or the fields of a push.
Words = Mapping[str, object]

#: Kind of the ciphertext, see `field_encryption`.
FIELD = "delivery"


def seal(words: Words, user_id: int | None) -> str:
    """Encrypt words for their recipient."""
    return field_encryption.encrypt(orjson.dumps(words).decode(), user_id or 0, field=FIELD)


def unseal(sealed: str, user_id: int | None) -> Words:
    """Decrypt words. Raise `UndecryptableField` if they are another person's, or if their key is not configured."""
    words: Words = orjson.loads(field_encryption.decrypt(sealed, user_id or 0, field=FIELD) or "{}")
    return words
