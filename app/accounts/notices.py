"""Security notices: messages that inform users about changes of their accounts. A thief may have made such a change."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta

import sqlalchemy as sa

from app.core.contact import ask_administrator
from app.core.database.session import db
from app.identity.models import User
from app.notifications import outbox
from app.notifications.delivery.claims import Claimed
from app.notifications.delivery.sealing import Words
from app.notifications.models import SECURITY_NOTICE, Channel

#: Values of `event` in the payload of a security notice.
ACCOUNT_CHANGED, RESET_REFUSED = "account_changed", "reset_refused"
SESSIONS_ENDED, SECOND_FACTOR_REMOVED = "sessions_ended", "second_factor_removed"
NUMBER_WAS_TAKEN, NUMBER_IS_WRONG, NUMBER_WAS_FREED = "number_taken", "number_wrong", "number_freed"

#: Maximum age of a notice that is not sent yet.
LIFETIME = timedelta(days=1)

#: Account fields whose changes are reported, with their Indonesian names. The text lists the fields in this order.
WORDS = {"password": "kata sandi", "email": "alamat e-mail", "nomor_hp": "nomor HP"}

#: Texts by event, each with the lead of the sentence about the administrator. The texts contain no user input, because
#: a new number may belong to a stranger.
TEXTS = {
    ACCOUNT_CHANGED: ("Data akun Anda baru saja diubah: {what}.", "Kalau bukan Anda yang mengubahnya, segera"),
    RESET_REFUSED: (
        "Permintaan mengatur ulang kata sandi akun Anda ditolak, karena nomor HP akun itu baru saja diganti.",
        "Kalau bukan Anda yang menggantinya, segera",
    ),
    SESSIONS_ENDED: (
        "Administrator mengeluarkan akun Anda dari semua perangkat. Silakan masuk lagi.",
        "Kalau menurut Anda ini keliru,",
    ),
    SECOND_FACTOR_REMOVED: (
        "Administrator utama mematikan verifikasi dua langkah akun Anda. Silakan masuk lagi, lalu aktifkan yang baru.",
        "Kalau menurut Anda ini keliru,",
    ),
    NUMBER_WAS_TAKEN: (
        "Nomor HP di akun Anda sekarang dipakai akun lain, jadi kami lepas dari akun Anda. "
        "Masuk dengan nama pengguna, lalu isi nomor Anda sendiri.",
        "Kalau ini keliru,",
    ),
    NUMBER_IS_WRONG: (
        "Dari nomor HP di akun Anda kami menerima SALAH NOMOR. "
        "Kami tidak mengirim pesan lagi ke sana. Periksa nomor Anda di profil.",
        "Kalau ini keliru,",
    ),
    NUMBER_WAS_FREED: (
        "Administrator melepas nomor HP dari akun Anda. Masuk dengan nama pengguna, lalu isi nomor Anda di profil.",
        "Kalau ini keliru,",
    ),
}
NUMBER_TITLE = "Nomor HP Anda"


def account_changed(user: User, fields: Collection[str], *, phone_before: str | None) -> None:
    """Report changed fields to the user's number, and to `phone_before` if the number itself changed."""
    changed = [name for name in WORDS if name in fields]
    for phone in sorted(filter(None, {user.phone, phone_before})):
        _send(ACCOUNT_CHANGED, phone=phone, payload={"fields": changed})


def reset_refused(phone: str, change: str) -> None:
    """Inform a former number that its account gets no reset link. `change` identifies the change of the number.

    Only one notice is sent for each changed number.
    """
    _send(RESET_REFUSED, phone=phone, key=change)


def changed_by_administrator(user_id: int, event: str) -> None:
    """Inform a user that an administrator ended their sessions or removed their second factor."""
    _send(event, user_id=user_id)


def number_changed(user: User, event: str) -> None:
    """Inform a user by push about their number. The account has no number, or the number belongs to somebody else."""
    _send(event, user_id=user.id, channel=Channel.PUSH_FAN_OUT)


def _send(
    event: str,
    *,
    user_id: int | None = None,
    phone: str | None = None,
    key: str | None = None,
    channel: Channel = Channel.MESSAGING,
    payload: Mapping[str, object] | None = None,
) -> None:
    """Send a notice to a user, or to a number. If its account has another number by then, the notice fails."""
    if phone is not None:
        user_id = db.session.scalar(sa.select(User.id).where(User.phone == phone))
    outbox.send(
        outbox.NewDelivery(
            kind=SECURITY_NOTICE,
            channel=channel,
            dedupe_key=f"{SECURITY_NOTICE}:{event}:{key or uuid.uuid4()}",
            user_id=user_id,
            target=phone,
            payload={"event": event, **(payload or {})},
            expires_in=LIFETIME,
        )
    )


def render(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the texts of security notices, by delivery id."""
    return {each.id: _words(each) for each in deliveries}


def _words(delivery: Claimed) -> Words:
    text, lead = TEXTS[str(delivery.payload["event"])]
    fields = delivery.payload.get("fields")
    what = ", ".join(word for name, word in WORDS.items() if isinstance(fields, list) and name in fields)
    text = text.format(what=what) + ask_administrator(lead)
    return {"text": text} if delivery.channel == Channel.MESSAGING else {"title": NUMBER_TITLE, "body": text}
