"""Verification that a user owns a phone number.

The user sends us a code from the number, or enters six digits that we sent to the number. Before the user has done
this, no response reveals whether another account has the number. If another account uses the number, the
number moves only after its owner answers PINDAH ("move").
"""

from __future__ import annotations

import hmac
import uuid
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypedDict
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.accounts import moves, questions, service
from app.core.database import db_time
from app.core.database.session import db, map_constraint_errors, unit_of_work
from app.core.errors import AppError, BadRequest, Conflict, ValidationFailed
from app.core.settings import settings
from app.core.web import rate_limits
from app.core.web.fields import Loaded
from app.identity import codes, phones, sessions, users
from app.identity.models import PhoneVerification, User, VerificationMethod
from app.identity.sessions import Caller
from app.notifications import outbox
from app.notifications.models import About, Channel
from app.notifications.senders import numbers

LIFETIME = timedelta(minutes=15)
#: The word before the code in the message that the user sends to us.
WORD = "VERIFIKASI"
CHARACTERS = 6
DIGITS = 6
#: Maximum tries to enter the same six-digit code.
MAX_TRIES = 5
#: Limit on the codes sent to one number. The account that has the number has its own limit. All other accounts share
#: one limit.
SENT = "3 per day"
#: Kind of the message with six digits. WhatsApp requires an authentication template for this message.
KIND = numbers.CODE
TEXT = (
    "Kode verifikasi nomor HP Anda: {code}. Berlaku {minutes} menit. "
    "Jangan berikan kepada siapa pun. Abaikan pesan ini bila Anda tidak memintanya."
)
CONSTRAINTS: dict[str, AppError] = {"fk_phone_verifications_session_id": sessions.ended()}


class WrongCode(BadRequest):
    code = "invalid_code"
    message = "Kode salah atau sudah kedaluwarsa. Silakan minta kode yang baru."


class NumberInUse(Conflict):
    code = "number_in_use"
    message = "Nomor HP ini masih dipakai akun lain."


class WrongNumber(Conflict):
    code = "wrong_number"
    message = "Dari nomor ini pernah dijawab SALAH NOMOR. Kirim VERIFIKASI dan kodenya dari nomor itu."


class VerificationRequest(TypedDict):
    """The code that the user sends to us, a chat link with this code, and the expiry time.

    If we send six digits to the user, `code` and `link` are None.
    """

    code: str | None
    link: str | None
    expires_at: datetime


class Proof(StrEnum):
    """Result of checking a verification code."""

    PROVEN = "proven"
    #: The code is mistyped, used or expired, or was sent from another number.
    UNKNOWN_CODE = "unknown_code"
    #: Another account uses the number. We ask the number's owner before the number moves.
    ASKED = "asked"


def create(caller: Caller, data: Loaded) -> VerificationRequest:
    """Start a verification of the caller's number or of a new number. A verified new number replaces the old number."""
    user = users.get_own(caller)
    nomor_hp = data.get("nomor_hp") or user.nomor_hp
    phone = phones.normalise(nomor_hp) if nomor_hp else None
    if nomor_hp is None or phone is None:
        raise ValidationFailed({"nomor_hp": ["wajib diisi."]})
    known = numbers.lock(phone)
    user = users.get_own(caller, to_change=True)
    if phone != user.phone:
        if problem := phones.country_problem(phone):
            raise ValidationFailed({"nomor_hp": [problem]})
        service.check_may_change(user, {"nomor_hp"}, data.get("current_password"))
    method = VerificationMethod(
        data.get("method") or (VerificationMethod.MESSAGE if settings.receives_messages else VerificationMethod.CODE)
    )
    code = codes.new_digits(DIGITS) if method is VerificationMethod.CODE else codes.new_code(CHARACTERS)
    expires_at = db_time.now() + LIFETIME
    if method is VerificationMethod.CODE:
        _count_code(user, phone, *known or (None, 0))
        _send(user.id, phone, code)
    _open(caller, method, nomor_hp=nomor_hp, phone=phone, code=code, expires_at=expires_at)
    if method is VerificationMethod.CODE:
        return {"code": None, "link": None, "expires_at": expires_at}
    return {"code": code, "link": _link(code), "expires_at": expires_at}


def confirm(caller: Caller, code: str) -> User | None:
    """Check the six digits that the user entered. Return the user, or None if the number's owner must agree first.

    If another account uses the number, ask the number's owner by message. Raise `NumberInUse` if the service cannot
    receive the owner's answer. Raise `WrongCode` for a wrong code.
    """
    code_hash = digest(VerificationMethod.CODE, codes.normalise(code), caller.id)
    with unit_of_work():
        tried = _take_try(caller.id)  # stays counted if the code is wrong
    if tried is None or not hmac.compare_digest(tried.code_hash, code_hash):
        raise WrongCode
    with unit_of_work():
        match prove(caller.id, VerificationMethod.CODE, code_hash, tried.phone):
            case Proof.UNKNOWN_CODE:
                raise WrongCode
            case Proof.ASKED:
                if not settings.receives_messages:
                    raise NumberInUse
                questions.send(tried.phone)
                return None
    return service.get_profile(caller)


def confirm_by_message(phone: str, code: str) -> Proof:
    """Check a code that we received by message from this E.164 number.

    A used code does not work again. A code works only from the number that it was created for.

    The caller of this function must handle the result in the same unit of work.
    """
    code_hash = digest(VerificationMethod.MESSAGE, codes.normalise(code))
    asked = sa.select(PhoneVerification.user_id).where(
        PhoneVerification.method == VerificationMethod.MESSAGE,
        PhoneVerification.code_hash == code_hash,
        PhoneVerification.phone == phone,
    )
    user_id = db.session.scalar(asked)
    return Proof.UNKNOWN_CODE if user_id is None else prove(user_id, VerificationMethod.MESSAGE, code_hash, phone)


def digest(method: VerificationMethod, code: str, user_id: int | None = None) -> str:
    """Return the hash of a code to store. Six digits are not unique, so their hash includes the user id."""
    return codes.digest(f"phone_{method}:{user_id or ''}", code)


def prove(user_id: int, method: VerificationMethod, code_hash: str, phone: str) -> Proof:
    """Use up an open verification request, and give the verified number to the user. A request can be used only once.

    If another account uses the number, the request stays open until the number's owner answers.
    """
    numbers.lock(phone)
    user, holder = moves.lock_prover_and_holder(user_id, phone)
    which = (
        PhoneVerification.user_id == user_id,
        PhoneVerification.method == method,
        PhoneVerification.code_hash == code_hash,
        PhoneVerification.phone == phone,
        _is_open,
    )
    request = db.session.scalar(sa.select(PhoneVerification).where(*which).with_for_update())
    if user is None or request is None:
        return Proof.UNKNOWN_CODE
    if holder is not None and numbers.is_in_use(holder.id):
        if request.asked_at is None:
            request.asked_at, request.expires_at = db_time.now(), db_time.now() + questions.LIFETIME
            db.session.flush()
        return Proof.ASKED
    moves.move(user, request.nomor_hp, phone, holder)
    return Proof.PROVEN


_is_open = PhoneVerification.expires_at > sa.func.statement_timestamp()


def _count_code(user: User, phone: str, wrong_at: datetime | None, wrong_codes: int) -> None:
    """Count a code before the code is sent to a number. Raise `WrongNumber` if the number may get no more codes.

    A number flagged as wrong gets at most `MAX_WRONG_CODES` codes until the number is verified. Only the account that
    has the number can request these codes.
    """
    is_own = phone == user.phone
    if wrong_at is not None:
        if not is_own or wrong_codes >= numbers.MAX_WRONG_CODES:
            raise WrongNumber
        numbers.count_wrong_code(phone)
    rate_limits.count(SENT, KIND, codes.digest(KIND, phone), *([str(user.id)] if is_own else []))


def _open(caller: Caller, method: VerificationMethod, *, code: str, **values: object) -> None:
    """Store the caller's open verification request. It replaces the caller's older request with the same method."""
    values["code_hash"] = digest(method, code, caller.id if method is VerificationMethod.CODE else None)
    values["session_id"] = caller.session_id
    with map_constraint_errors(CONSTRAINTS):
        db.session.execute(
            insert(PhoneVerification)
            .values(user_id=caller.id, method=method, **values)
            .on_conflict_do_update(
                index_elements=["user_id", "method"],
                set_={**values, "tries": 0, "asked_at": None, "created_at": sa.func.now()},
            )
        )


def _send(user_id: int, phone: str, code: str) -> None:
    """Enqueue a message with six digits. Cancel the user's older message, which may be for another number."""
    about = About("user", user_id)
    outbox.cancel(about, [KIND])
    text = TEXT.format(code=code, minutes=int(LIFETIME.total_seconds() // 60))
    outbox.add(
        outbox.NewDelivery(
            kind=KIND,
            channel=Channel.MESSAGING,
            dedupe_key=f"{KIND}:{user_id}:{uuid.uuid4()}",
            words={"text": text, "parts": {"code": code}},
            expires_at=db_time.now() + LIFETIME,
            target=phone,
            about=about,
        )
    )


def _link(code: str) -> str | None:
    """Return a link that opens WhatsApp with the message filled in. Return None if `messaging_number` is not set."""
    if settings.messaging_number is None:
        return None
    return f"https://wa.me/{settings.messaging_number[1:]}?text={quote(f'{WORD} {code}')}"


def _take_try(user_id: int) -> sa.Row[str, str] | None:
    """Count a try to enter the code. Return `code_hash` and `phone`, or None if no code is open or no try is left."""
    tried = (
        sa.update(PhoneVerification)
        .where(
            PhoneVerification.user_id == user_id,
            PhoneVerification.method == VerificationMethod.CODE,
            PhoneVerification.tries < MAX_TRIES,
            PhoneVerification.expires_at > sa.func.statement_timestamp(),
        )
        .values(tries=PhoneVerification.tries + 1)
        .returning(PhoneVerification.code_hash, PhoneVerification.phone)
    )
    return db.session.execute(tried).one_or_none()
