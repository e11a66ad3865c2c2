"""Security notices: messages that inform users about changes of their accounts. A thief may have made such a change."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy import orm

from app.core.contact import ask_administrator
from app.core.database import db_time
from app.core.database.session import db
from app.core.lib.break_links import break_links
from app.identity import care
from app.identity.care import CaregiverLink, Scope
from app.identity.models import User
from app.notifications import outbox
from app.notifications.delivery import rendering
from app.notifications.delivery.claims import Claimed
from app.notifications.delivery.sealing import Words
from app.notifications.messages import message_user, notify_user, send_message
from app.notifications.models import SECURITY_NOTICE, About, Channel, Delivery, DeliveryState

#: Values of `event` in the payload of a security notice.
ACCOUNT_CHANGED, HANDED_OVER = "account_changed", "handed_over"
NUMBER_WAS_TAKEN, NUMBER_IS_WRONG = "number_taken", "number_wrong"
NUMBER_WAS_FREED, NUMBER_WAS_RETURNED = "number_freed", "number_returned"
SESSIONS_ENDED, SECOND_FACTOR_REMOVED = "sessions_ended", "second_factor_removed"

#: Maximum age of a notice that is not sent yet.
LIFETIME = timedelta(days=1)

#: Minimum time between two notices to a number. All changes between two notices are reported in the second notice.
TOGETHER = timedelta(minutes=10)

#: Account fields whose changes are reported, with their Indonesian names. The text lists the fields in this order.
WORDS = {"password": "kata sandi", "email": "alamat e-mail", "nomor_hp": "nomor HP"}

#: The text contains no user input, because a new number may belong to a stranger.
CHANGED = "Data akun Anda baru saja diubah: {what}."


def account_changed(user: User, fields: Collection[str], *, phone_before: str | None) -> None:
    """Report changed fields to the user's number, and to `phone_before` if the number itself changed.

    A number gets at most one notice in ten minutes. The caller has locked the user's row, so that no other request adds
    a notice at the same time.
    """
    for phone in sorted(filter(None, {user.phone, phone_before})):
        _notify_changed(user, phone, fields)


def _notify_changed(user: User, phone: str, fields: Collection[str]) -> None:
    """Add the fields to the last notice if this notice is still pending. Otherwise create a new notice.

    If the last notice was due less than `TOGETHER` ago, the new notice is due `TOGETHER` after the last one.
    """
    owner_id = db.session.scalar(sa.select(User.id).where(User.phone == phone))
    last = _last_notice(user, phone)
    if last and last.user_id == owner_id and last.state == DeliveryState.PENDING and last.claim_token is None:
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


def _last_notice(user: User, phone: str) -> Delivery | None:
    """Lock and return the latest notice to a number. Ignore notices that were due more than ten minutes ago."""
    rows = sa.select(Delivery).where(
        sa.or_(Delivery.user_id == user.id, Delivery.user_id.is_(None)),
        Delivery.target == phone,
        Delivery.kind == SECURITY_NOTICE,
        Delivery.payload["event"].astext == ACCOUNT_CHANGED,
        Delivery.state != DeliveryState.CANCELLED,
        Delivery.due_at > db_time.now() - TOGETHER,
    )
    latest = rows.order_by(Delivery.due_at.desc(), Delivery.id.desc()).limit(1).with_for_update()
    return db.session.scalar(latest.execution_options(populate_existing=True))


def _changed(fields: Collection[str]) -> dict[str, object]:
    return {"event": ACCOUNT_CHANGED, "fields": [name for name in WORDS if name in fields]}


def render_changed(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the texts about changed account fields, by delivery id."""
    who = ask_administrator("Kalau bukan Anda yang mengubahnya, segera")
    return {each.id: {"text": CHANGED.format(what=_what(each.payload["fields"])) + who} for each in deliveries}


def _what(fields: object) -> str:
    return ", ".join(word for name, word in WORDS.items() if isinstance(fields, list) and name in fields)


#: Texts about the account's phone number, by event. They are sent only by push, because the account has no number, or
#: because the account's number belongs to somebody else.
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
    """Inform a user by push that another account now has their number."""
    _notify(user, NUMBER_WAS_TAKEN)


def number_wrong(user: User) -> None:
    """Inform a user by push that somebody answered SALAH NOMOR ("wrong number") from their number."""
    _notify(user, NUMBER_IS_WRONG)


def number_freed(user: User) -> None:
    """Inform a user by push that an administrator removed their number."""
    _notify(user, NUMBER_WAS_FREED)


def number_returned(user: User) -> None:
    """Inform a user by push that their new number was moved back to the account that had the number before."""
    _notify(user, NUMBER_WAS_RETURNED)


def _notify(user: User, event: str) -> None:
    outbox.add(
        outbox.NewDelivery(
            kind=SECURITY_NOTICE,
            channel=Channel.PUSH_FAN_OUT,
            dedupe_key=f"{SECURITY_NOTICE}:{user.id}:{uuid.uuid4()}",
            payload={"event": event},
            expires_at=db_time.now() + LIFETIME,
            user_id=user.id,
        )
    )


def render_number(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the texts about the account's number, by delivery id."""
    who = ask_administrator("Kalau ini keliru,")
    return {each.id: {"title": NUMBER_TITLE, "body": NUMBERS[str(each.payload["event"])] + who} for each in deliveries}


#: Texts about an administrator's action on the account, by event.
BY_ADMINISTRATOR = {
    SESSIONS_ENDED: "Administrator mengeluarkan akun Anda dari semua perangkat. Silakan masuk lagi.",
    SECOND_FACTOR_REMOVED: "Administrator utama mematikan verifikasi dua langkah akun Anda. "
    "Silakan masuk lagi, lalu aktifkan yang baru.",
}


def changed_by_administrator(user_id: int, event: str) -> None:
    """Inform a user that an administrator ended their sessions or removed their second factor."""
    message_user(
        user_id,
        kind=SECURITY_NOTICE,
        dedupe_key=f"{SECURITY_NOTICE}:{user_id}:{uuid.uuid4()}",
        expires_in=LIFETIME,
        payload={"event": event},
    )


def render_by_administrator(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the texts about an administrator's action, by delivery id."""
    end = ask_administrator("Kalau menurut Anda ini keliru,")
    return {each.id: {"text": BY_ADMINISTRATOR[str(each.payload["event"])] + end} for each in deliveries}


HANDED_OVER_TITLE = "Serah terima akun"
NEW_HOLDER = "Akun ini sekarang milik Anda, dengan semua pengingat dan riwayatnya."
NEW_HOLDER_ALERTS = (
    "{nama} masih dikabari kalau obat belum ditandai. Kalau Anda tidak setuju, hapus hubungan ini di aplikasi."
)
FORMER_CAREGIVER = "{nama} sekarang memegang akunnya sendiri. Anda tidak lagi mengatur pengingatnya."
FORMER_CAREGIVER_ALERTS = "Anda masih dikabari kalau obat belum ditandai."


def handed_over(link: CaregiverLink) -> None:
    """Inform the patient and the caregiver that the patient now controls the account."""
    for user_id in (link.patient_id, link.caregiver_id):
        notify_user(
            user_id,
            kind=SECURITY_NOTICE,
            dedupe_key=f"{HANDED_OVER}:{link.id}:{user_id}",
            expires_in=LIFETIME,
            about=About(care.LINK, link.id),
            payload={"event": HANDED_OVER},
        )


def render_handed_over(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the texts about handed-over accounts, by delivery id.

    A delivery whose caregiver link is deleted gets no text.
    """
    caregiver, patient = orm.aliased(User), orm.aliased(User)
    links = (
        sa.select(*CaregiverLink.__table__.c, patient.nama_ktp.label("patient"), caregiver.nama_ktp.label("caregiver"))
        .join(caregiver, caregiver.id == CaregiverLink.caregiver_id)
        .join(patient, patient.id == CaregiverLink.patient_id)
        .where(CaregiverLink.id.in_([each.about_id for each in deliveries]))
    )
    found = {row.id: row for row in db.session.execute(links)}
    return {each.id: _handed_over(each, found[each.about_id]) for each in deliveries if each.about_id in found}


def _handed_over(delivery: Claimed, row: sa.Row[*tuple[Any, ...]]) -> Words:
    is_patient = delivery.user_id == row.patient_id
    first, alerts = (NEW_HOLDER, NEW_HOLDER_ALERTS) if is_patient else (FORMER_CAREGIVER, FORMER_CAREGIVER_ALERTS)
    sentences = [first, alerts] if Scope.ALERTS in row.scopes else [first]
    name = break_links(row.caregiver if is_patient else row.patient)
    text = " ".join(sentences).format(nama=name)
    return rendering.notice(delivery, text=text, title=HANDED_OVER_TITLE, body=text)
