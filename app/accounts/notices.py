"""What a person is told of changes of their account, so that a thief of it does not stay unnoticed."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from datetime import timedelta

from app.identity.models import User
from app.notifications.messages import send_message

KIND = "security_notice"

#: So long is tried to send a notice.
LIFETIME = timedelta(days=1)

#: What can change, in the order and the words in which people are told.
WORDS = {"password": "kata sandi", "email": "alamat e-mail", "nomor_hp": "nomor HP"}

#: No word of it is the sender's: a new number may be a stranger's.
CHANGED = "Data akun Anda baru saja diubah: {what}. Bila bukan Anda yang mengubahnya, segera hubungi administrator."


def account_changed(user: User, fields: Collection[str], *, phone_before: str | None) -> None:
    """Tell the person's number which of `WORDS` changed, and the number `phone_before` that they had until now."""
    what = ", ".join(word for name, word in WORDS.items() if name in fields)
    for phone in filter(None, {user.phone, phone_before}):
        send_message(
            phone,
            CHANGED.format(what=what),
            kind=KIND,
            dedupe_key=f"{KIND}:{user.id}:{uuid.uuid4()}",
            expires_in=LIFETIME,
        )
