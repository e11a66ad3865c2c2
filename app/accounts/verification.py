"""Verification that a user owns a phone number. The user sends `VERIFIKASI` and a code to us from this number.

Until this message arrives, no response reveals whether another account has the number.
"""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.accounts import moves, service
from app.core.contact import ask_administrator
from app.core.database import db_time
from app.core.database.session import db, map_constraint_errors
from app.core.errors import AppError, Conflict, ValidationFailed
from app.core.lib.break_links import break_links
from app.core.settings import settings
from app.core.web.fields import Loaded
from app.identity import codes, phones, sessions, users
from app.identity.models import PhoneVerification
from app.identity.sessions import Caller
from app.notifications.senders import numbers

LIFETIME = timedelta(minutes=15)
#: The word before the code in the message that the user sends to us.
WORD = "VERIFIKASI"
CHARACTERS = 6
CONSTRAINTS: dict[str, AppError] = {"fk_phone_verifications_session_id": sessions.ended()}

PROVEN = "Terima kasih. Nomor ini sudah kami pastikan milik Anda."
UNKNOWN_CODE = "Kode salah atau sudah kedaluwarsa. Silakan minta kode yang baru di aplikasi."
IN_USE = "Nomor ini masih dipakai akun {holder}. Masuk ke akun itu, lalu lepas nomornya di profil."


class Proof(StrEnum):
    """Result of checking a verification code."""

    PROVEN = "proven"
    #: The code is mistyped, used or expired, or was sent from another number.
    UNKNOWN_CODE = "unknown_code"
    #: Another account uses the number, so the number stays there.
    IN_USE = "in_use"


def create(caller: Caller, data: Loaded) -> dict[str, object]:
    """Start a verification of the caller's number or of a new number. A verified new number replaces the old number.

    Return the code that the user sends to us, a chat link with this code, and the expiry time.
    """
    user = users.get_own(caller, to_change=True)
    nomor_hp = data.get("nomor_hp") or user.nomor_hp
    phone = phones.normalise(nomor_hp) if nomor_hp else None
    if nomor_hp is None or phone is None:
        raise ValidationFailed({"nomor_hp": ["wajib diisi."]})
    if phone != user.phone:
        if problem := phones.country_problem(phone):
            raise ValidationFailed({"nomor_hp": [problem]})
        service.check_may_change(user, {"nomor_hp"}, data.get("current_password"))
    code, expires_at = codes.new_code(CHARACTERS), db_time.now() + LIFETIME
    values = {
        "nomor_hp": nomor_hp,
        "phone": phone,
        "code_hash": _digest(code),
        "expires_at": expires_at,
        "session_id": caller.session_id,
    }
    with map_constraint_errors(CONSTRAINTS):
        db.session.execute(
            insert(PhoneVerification)
            .values(user_id=caller.id, **values)
            .on_conflict_do_update(index_elements=["user_id"], set_={**values, "created_at": sa.func.now()})
        )
    return {"code": code, "link": _link(code), "expires_at": expires_at}


def confirm_by_message(phone: str, code: str) -> tuple[Proof, str]:
    """Check a code that we received by message from this E.164 number. Return the result, and the text of the answer.

    A used code does not work again. A code works only from the number that it was created for. If another account uses
    the number, the number stays there, and the code stays valid.
    """
    which = (
        PhoneVerification.code_hash == _digest(code),
        PhoneVerification.phone == phone,
        PhoneVerification.expires_at > sa.func.statement_timestamp(),
        sessions.has_live_session(PhoneVerification),
    )
    numbers.lock(phone)
    user_id = db.session.scalar(sa.select(PhoneVerification.user_id).where(*which))
    user, holder = moves.lock_prover_and_holder(user_id, phone) if user_id else (None, None)
    # Who uses, replaces or deletes the code locks the user first, so the code needs no lock of its own.
    request = db.session.scalar(sa.select(PhoneVerification).where(*which))
    if user is None or request is None:
        return Proof.UNKNOWN_CODE, UNKNOWN_CODE
    if holder is not None and numbers.is_in_use(holder.id):
        text = IN_USE.format(holder=break_links(holder.username))
        return Proof.IN_USE, text + ask_administrator("Kalau tidak bisa,")
    try:
        moves.move(user, request.nomor_hp, phone, holder)
    except Conflict:  # no account with the number was locked, and another account got the number meanwhile
        return Proof.UNKNOWN_CODE, UNKNOWN_CODE
    return Proof.PROVEN, PROVEN


def _digest(code: str) -> str:
    return codes.digest("phone", codes.normalise(code))


def _link(code: str) -> str | None:
    """Return a link that opens WhatsApp with the message filled in. Return None if `messaging_number` is not set."""
    if settings.messaging_number is None:
        return None
    return f"https://wa.me/{settings.messaging_number[1:]}?text={quote(f'{WORD} {code}')}"
