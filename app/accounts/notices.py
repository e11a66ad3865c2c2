"""What a person is told of changes of their account, so that a thief of it does not stay unnoticed."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy import orm

from app.core.contact import ask_administrator
from app.core.database import clock
from app.core.database.session import autocommit, db
from app.core.lib.addresses import without_addresses
from app.identity import care
from app.identity.care import CaregiverLink, Scope
from app.identity.models import User
from app.notifications import outbox
from app.notifications.delivery import rendering
from app.notifications.delivery.claims import Claimed
from app.notifications.delivery.sealing import Words
from app.notifications.messages import message_user, send_message, tell_user
from app.notifications.models import SECURITY_NOTICE, About, Channel, Delivery, State

#: Events of security notices.
ACCOUNT_CHANGED, HANDED_OVER = "account_changed", "handed_over"
NUMBER_WAS_TAKEN, NUMBER_IS_WRONG = "number_taken", "number_wrong"
NUMBER_WAS_FREED, NUMBER_WAS_RETURNED = "number_freed", "number_returned"
SESSIONS_ENDED, SECOND_FACTOR_REMOVED = "sessions_ended", "second_factor_removed"

#: So long is tried to send a notice.
LIFETIME = timedelta(days=1)

#: How long after a notice further changes are gathered, to be told in one more.
TOGETHER = timedelta(minutes=10)

#: What can change, in the order and the words in which people are told.
WORDS = {"password": "kata sandi", "email": "alamat e-mail", "nomor_hp": "nomor HP"}

#: No word of it is the sender's: a new number may be a stranger's.
CHANGED = "Data akun Anda baru saja diubah: {what}."


def account_changed(user: User, fields: Collection[str], *, phone_before: str | None) -> None:
    """Tell the person's number which of `WORDS` changed, and the number `phone_before` that they had until now.

    A number gets one notice in ten minutes. The person is locked, so no other notice is added meanwhile.
    """
    for phone in sorted(filter(None, {user.phone, phone_before})):
        _tell_changed(user, phone, fields)


def _tell_changed(user: User, phone: str, fields: Collection[str]) -> None:
    """Add the fields to a notice that is not sent yet, or add a notice that leaves `TOGETHER` after the last one."""
    owner_id = db.session.scalar(sa.select(User.id).where(User.phone == phone))
    last = _last_told(user, phone)
    if last and last.user_id == owner_id and last.state == State.PENDING and last.claim_token is None:
        last.payload = _changed({*fields, *cast(list[str], last.payload["fields"])})
        db.session.flush()
        return
    send_message(
        phone,
        kind=SECURITY_NOTICE,
        dedupe_key=f"{SECURITY_NOTICE}:{user.id}:{uuid.uuid4()}",
        expires_in=LIFETIME,
        due_at=last.due_at + TOGETHER if last else None,
        payload=_changed(fields),
    )


def _last_told(user: User, phone: str) -> Delivery | None:
    """Return the latest notice to a number, locked, if it was due within the last ten minutes or is due later."""
    rows = sa.select(Delivery).where(
        sa.or_(Delivery.user_id == user.id, Delivery.user_id.is_(None)),
        Delivery.target == phone,
        Delivery.kind == SECURITY_NOTICE,
        Delivery.payload["event"].astext == ACCOUNT_CHANGED,
        Delivery.state != State.CANCELLED,
        Delivery.due_at > clock.now() - TOGETHER,
    )
    latest = rows.order_by(Delivery.due_at.desc(), Delivery.id.desc()).limit(1).with_for_update()
    return db.session.scalar(latest.execution_options(populate_existing=True))


def _changed(fields: Collection[str]) -> dict[str, object]:
    return {"event": ACCOUNT_CHANGED, "fields": [name for name in WORDS if name in fields]}


def render_changed(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the words of notices that an account was changed."""
    who = ask_administrator("Kalau bukan Anda yang mengubahnya, segera")
    return {each.id: {"text": CHANGED.format(what=_what(each.payload["fields"])) + who} for each in deliveries}


def _what(fields: object) -> str:
    return ", ".join(word for name, word in WORDS.items() if isinstance(fields, list) and name in fields)


#: What an account is told of its number, by event. It may have no other number, so it is told by push alone.
NUMBERS = {
    NUMBER_WAS_TAKEN: "Nomor HP di akun Anda sekarang dipakai akun lain, jadi kami lepas dari akun Anda. "
    "Masuk dengan nama pengguna, lalu isi nomor Anda sendiri.",
    NUMBER_IS_WRONG: "Dari nomor HP di akun Anda kami menerima SALAH NOMOR. "
    "Kami tidak mengirim pesan lagi ke sana. Periksa nomor Anda di profil.",
    NUMBER_WAS_FREED: "Administrator melepas nomor HP dari akun Anda. "
    "Masuk dengan nama pengguna, lalu isi nomor Anda di profil.",
    NUMBER_WAS_RETURNED: "Nomor HP yang baru pindah ke akun Anda sudah kami lepas lagi, "
    "karena dari nomor itu kami menerima SALAH NOMOR. Periksa nomor Anda di profil.",
}
NUMBER_TITLE = "Nomor HP Anda"


def number_taken(user: User) -> None:
    """Tell an account that somebody else proved its number."""
    _tell(user, NUMBER_WAS_TAKEN)


def number_wrong(user: User) -> None:
    """Tell an account that its number says that it is somebody else's."""
    _tell(user, NUMBER_IS_WRONG)


def number_freed(user: User) -> None:
    """Tell an account that an administrator took its number from it."""
    _tell(user, NUMBER_WAS_FREED)


def number_returned(user: User) -> None:
    """Tell an account that the number that moved to it went back."""
    _tell(user, NUMBER_WAS_RETURNED)


def _tell(user: User, event: str) -> None:
    outbox.add(
        outbox.Draft(
            kind=SECURITY_NOTICE,
            channel=Channel.PUSH_FAN_OUT,
            dedupe_key=f"{SECURITY_NOTICE}:{user.id}:{uuid.uuid4()}",
            payload={"event": event},
            expires_at=clock.now() + LIFETIME,
            user_id=user.id,
        )
    )


def render_number(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the words of notices about the account's number."""
    who = ask_administrator("Kalau ini keliru,")
    return {each.id: {"title": NUMBER_TITLE, "body": NUMBERS[str(each.payload["event"])] + who} for each in deliveries}


#: Messages about what an administrator did to an account, by event.
BY_ADMINISTRATOR = {
    SESSIONS_ENDED: "Administrator mengeluarkan akun Anda dari semua perangkat. Silakan masuk lagi.",
    SECOND_FACTOR_REMOVED: "Administrator utama mematikan verifikasi dua langkah akun Anda. "
    "Silakan masuk lagi, lalu aktifkan yang baru.",
}


def changed_by_administrator(user_id: int, event: str) -> None:
    """Send the person a message about what an administrator did to the account."""
    message_user(
        user_id,
        kind=SECURITY_NOTICE,
        dedupe_key=f"{SECURITY_NOTICE}:{user_id}:{uuid.uuid4()}",
        expires_in=LIFETIME,
        payload={"event": event},
    )


def render_by_administrator(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the words of notices about what an administrator did."""
    end = ask_administrator("Kalau menurut Anda ini keliru,")
    return {each.id: {"text": BY_ADMINISTRATOR[str(each.payload["event"])] + end} for each in deliveries}


#: Characters of a name in a notice, and what stands for a name of nothing but web addresses.
MAX_NAME, SOMEBODY = 40, "Orang itu"
HANDED_OVER_TITLE = "Serah terima akun"
YOURS = "Akun ini sekarang milik Anda, dengan semua pengingat dan riwayatnya."
STILL_TOLD = "{nama} masih dikabari kalau obat belum ditandai. Kalau Anda tidak setuju, hapus hubungan ini di aplikasi."
NO_LONGER_YOURS = "{nama} sekarang memegang akunnya sendiri. Anda tidak lagi mengatur pengingatnya."
TOLD_STILL = "Anda masih dikabari kalau obat belum ditandai."


def handed_over(link: CaregiverLink) -> None:
    """Tell a patient and the caregiver who kept the account that the patient has it now."""
    for user_id in (link.patient_id, link.caregiver_id):
        tell_user(
            user_id,
            kind=SECURITY_NOTICE,
            dedupe_key=f"{HANDED_OVER}:{link.id}:{user_id}",
            expires_in=LIFETIME,
            about=About(care.LINK, link.id),
            payload={"event": HANDED_OVER},
        )


def render_handed_over(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the words of notices that an account was handed over. A link that was cut has none."""
    caregiver, patient = orm.aliased(User), orm.aliased(User)
    links = (
        sa.select(*CaregiverLink.__table__.c, patient.nama_ktp.label("patient"), caregiver.nama_ktp.label("caregiver"))
        .join(caregiver, caregiver.id == CaregiverLink.caregiver_id)
        .join(patient, patient.id == CaregiverLink.patient_id)
        .where(CaregiverLink.id.in_([each.about_id for each in deliveries]))
    )
    with autocommit() as connection:
        found = {row.id: row for row in connection.execute(links)}
    return {each.id: _handed_over(each, found[each.about_id]) for each in deliveries if each.about_id in found}


def _handed_over(delivery: Claimed, row: sa.Row[*tuple[Any, ...]]) -> Words:
    is_patient = delivery.user_id == row.patient_id
    first, alerts = (YOURS, STILL_TOLD) if is_patient else (NO_LONGER_YOURS, TOLD_STILL)
    sentences = [first, alerts] if Scope.ALERTS in row.scopes else [first]
    name = without_addresses(row.caregiver if is_patient else row.patient)[:MAX_NAME] or SOMEBODY
    text = " ".join(sentences).format(nama=name)
    return rendering.notice(delivery, text=text, title=HANDED_OVER_TITLE, body=text)
