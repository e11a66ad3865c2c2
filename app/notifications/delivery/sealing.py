"""Words that exist only once, such as a reset link: they lie in the outbox encrypted until they are sent."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from app.identity import nik

#: What a delivery says: the `text` and `parts` of a message, see `forms`, or the fields of a push.
Words = Mapping[str, object]

#: What a ciphertext is, beside whose.
KIND = "delivery"


def seal(words: Words, user_id: int | None) -> str:
    """Encrypt words for the person whom they go to."""
    return nik.encrypt(orjson.dumps(words).decode(), user_id or 0, kind=KIND)


def unseal(sealed: str, user_id: int | None) -> Words:
    words: Words = orjson.loads(nik.decrypt(sealed, user_id or 0, kind=KIND) or "{}")
    return words
