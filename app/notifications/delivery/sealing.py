"""Encryption of texts that are stored only in their delivery until they are sent, such as a reset link."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from app.identity import field_encryption

#: Content of a delivery. For a message: `text` and `parts`, see `message_format`. For a push: the fields of the push.
Words = Mapping[str, object]

#: Argument `field` of the functions in `field_encryption`. The contents of all deliveries use this value.
FIELD = "delivery"


def seal(words: Words, user_id: int | None) -> str:
    """Encrypt the content of a delivery to this user."""
    return field_encryption.encrypt(orjson.dumps(words).decode(), user_id or 0, field=FIELD)


def unseal(sealed: str, user_id: int | None) -> Words:
    """Decrypt the content of a delivery.

    Raise `UndecryptableField` if the content was encrypted for another user. Raise it also if the key of the content is
    not configured any more.
    """
    words: Words = orjson.loads(field_encryption.decrypt(sealed, user_id or 0, field=FIELD) or "{}")
    return words
