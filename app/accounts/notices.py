"""What a person is told of changes of their account, so that a thief of it does not stay unnoticed."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from datetime import timedelta

from app.core.database import clock
from app.identity.models import User
from app.notifications import outbox
from app.notifications.delivery.claims import Claimed
from app.notifications.delivery.sealing import Words
from app.notifications.messages import send_message
from app.notifications.models import SECURITY_NOTICE, Channel

#: Events of security notices.
ACCOUNT_CHANGED, NUMBER_WAS_TAKEN = "account_changed", "number_taken"

#: So long is tried to send a notice.
LIFETIME = timedelta(days=1)

#: What can change, in the order and the words in which people are told.
WORDS = {"password": "kata sandi", "email": "alamat e-mail", "nomor_hp": "nomor HP"}

#: No word of it is the sender's: a new number may be a stranger's.
CHANGED = "Data akun Anda baru saja diubah: {what}. Bila bukan Anda yang mengubahnya, segera hubungi administrator."


def account_changed(user: User, fields: Collection[str], *, phone_before: str | None) -> None:
    """Tell the person's number which of `WORDS` changed, and the number `phone_before` that they had until now."""
    for phone in filter(None, {user.phone, phone_before}):
        send_message(
            phone,
            kind=SECURITY_NOTICE,
            dedupe_key=f"{SECURITY_NOTICE}:{user.id}:{uuid.uuid4()}",
            expires_in=LIFETIME,
            payload={"event": ACCOUNT_CHANGED, "fields": [name for name in WORDS if name in fields]},
        )


def render_changed(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the words of notices that an account was changed."""
    return {each.id: {"text": CHANGED.format(what=_what(each.payload["fields"]))} for each in deliveries}


def _what(fields: object) -> str:
    return ", ".join(word for name, word in WORDS.items() if isinstance(fields, list) and name in fields)


#: To an account that had somebody else's number; it has no other one of its own, so it goes as a push.
NUMBER_TAKEN = {
    "title": "Nomor HP Anda",
    "body": "Nomor HP di akun Anda terbukti milik orang lain, jadi nomor itu dilepas. "
    "Masuklah dengan nama pengguna, lalu isi nomor Anda sendiri. Bila ini keliru, hubungi administrator.",
}


def number_taken(user: User) -> None:
    """Tell the account that had somebody else's number."""
    outbox.add(
        outbox.Draft(
            kind=SECURITY_NOTICE,
            channel=Channel.PUSH_FAN_OUT,
            dedupe_key=f"{SECURITY_NOTICE}:{user.id}:{uuid.uuid4()}",
            payload={"event": NUMBER_WAS_TAKEN},
            expires_at=clock.now() + LIFETIME,
            user_id=user.id,
        )
    )


def render_taken(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the words of notices that a number was released."""
    return dict.fromkeys((each.id for each in deliveries), NUMBER_TAKEN)
