"""Proofs of a number: a person writes a code to us from the number, or repeats six digits that we sent to it.

No response tells whether a number is known before somebody has proven it. A number that another account uses moves only
after the number itself was asked and answered PINDAH.
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
from app.core.database import clock
from app.core.database.session import db, own_transaction, translating
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
#: What a person writes, before the code.
WORD = "VERIFIKASI"
CHARACTERS = 6
DIGITS = 6
#: How often six digits may be tried.
MOST_TRIES = 5
#: Codes to one number for the account that has it, and as many for all other accounts together.
SENT = "3 per day"
#: Of the message with six digits: WhatsApp takes it by a template for codes alone.
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


class Asked(TypedDict):
    """What a person writes to us and by which link; null when we wrote to them."""

    code: str | None
    link: str | None
    expires_at: datetime


class Proof(StrEnum):
    """What came of a code."""

    PROVEN = "proven"
    #: Of no open request for this number: mistyped, used, expired, or sent from another number.
    UNKNOWN_CODE = "unknown_code"
    #: Another account uses the number: the number is asked whether it moves.
    ASKED = "asked"


def create(caller: Caller, data: Loaded) -> Asked:
    """Open a proof of the caller's number, or of another one that is theirs as soon as it is proven."""
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
        data.get("method") or (VerificationMethod.MESSAGE if settings.hears_people else VerificationMethod.CODE)
    )
    code = codes.new_digits(DIGITS) if method is VerificationMethod.CODE else codes.new_code(CHARACTERS)
    expires_at = clock.now() + LIFETIME
    if method is VerificationMethod.CODE:
        _count_code(user, phone, *known or (None, 0))
        _send(user.id, phone, code)
    _open(caller, method, nomor_hp=nomor_hp, phone=phone, code=code, expires_at=expires_at)
    if method is VerificationMethod.CODE:
        return {"code": None, "link": None, "expires_at": expires_at}
    return {"code": code, "link": _link(code), "expires_at": expires_at}


def confirm(caller: Caller, code: str) -> User | None:
    """Take the six digits that the caller repeats. Return None if the number is asked whether it moves to them.

    Raise `WrongCode`, and `NumberInUse` where messages do not come back.
    """
    code_hash = digest(VerificationMethod.CODE, codes.normalise(code), caller.id)
    tried = _take_try(caller.id)
    if tried is None or not hmac.compare_digest(tried.code_hash, code_hash):
        raise WrongCode
    match prove(caller.id, VerificationMethod.CODE, code_hash, tried.phone):
        case Proof.UNKNOWN_CODE:
            raise WrongCode
        case Proof.ASKED:
            if not settings.hears_people:
                raise NumberInUse
            questions.send(tried.phone)
            return None
    return service.get_profile(caller)


def confirm_by_message(phone: str, code: str) -> Proof:
    """Take a code that somebody wrote to us from this number (E.164). It works once, and from this number alone.

    Called inside a unit of work, in which all that follows from it happens.
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
    """What is stored of a code. Six digits are soon equal to somebody else's, so they are hashed with the person."""
    return codes.digest(f"phone_{method}:{user_id or ''}", code)


def prove(user_id: int, method: VerificationMethod, code_hash: str, phone: str) -> Proof:
    """Use the open request, which one caller alone gets, and give its number to whoever made it.

    A number that another account uses is asked first, and the request stays open for its answer.
    """
    numbers.lock(phone)
    user = moves.lock_prover(user_id)
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
    holder = moves.lock_holder(phone, user_id)
    if holder is not None and numbers.is_in_use(holder.id):
        if request.asked_at is None:
            request.asked_at, request.expires_at = clock.now(), clock.now() + questions.LIFETIME
            db.session.flush()
        return Proof.ASKED
    moves.move(user, request.nomor_hp, phone, holder)
    return Proof.PROVEN


_is_open = PhoneVerification.expires_at > sa.func.statement_timestamp()


def _count_code(user: User, phone: str, wrong_at: datetime | None, wrong_codes: int) -> None:
    """Count a code to a number before it is sent. Raise `WrongNumber` if the number may get none.

    A wrong number gets a few from the account that has it, until somebody proves it.
    """
    is_own = phone == user.phone
    if wrong_at is not None:
        if not is_own or wrong_codes >= numbers.MAX_WRONG_CODES:
            raise WrongNumber
        numbers.count_wrong_code(phone)
    rate_limits.count(SENT, KIND, codes.digest(KIND, phone), *([str(user.id)] if is_own else []))


def _open(caller: Caller, method: VerificationMethod, *, code: str, **values: object) -> None:
    """The caller's one open request of a method; an older one ends."""
    values["code_hash"] = digest(method, code, caller.id if method is VerificationMethod.CODE else None)
    values["session_id"] = caller.session_id
    with translating(CONSTRAINTS):
        db.session.execute(
            insert(PhoneVerification)
            .values(user_id=caller.id, method=method, **values)
            .on_conflict_do_update(
                index_elements=["user_id", "method"],
                set_={**values, "tries": 0, "asked_at": None, "created_at": sa.func.now()},
            )
        )


def _send(user_id: int, phone: str, code: str) -> None:
    """Send six digits to a number, whoever's it may be."""
    about = About("user", user_id)
    outbox.cancel(about, [KIND])
    text = TEXT.format(code=code, minutes=int(LIFETIME.total_seconds() // 60))
    outbox.add(
        outbox.Draft(
            kind=KIND,
            channel=Channel.MESSAGING,
            dedupe_key=f"{KIND}:{user_id}:{uuid.uuid4()}",
            words={"text": text, "parts": {"code": code}},
            expires_at=clock.now() + LIFETIME,
            target=phone,
            about=about,
        )
    )


def _link(code: str) -> str | None:
    """Opens WhatsApp with the words ready to be sent; None where nobody said which number hears them."""
    if settings.messaging_number is None:
        return None
    return f"https://wa.me/{settings.messaging_number[1:]}?text={quote(f'{WORD} {code}')}"


def _take_try(user_id: int) -> sa.Row[str, str] | None:
    """Count a try, whatever becomes of it. Return code_hash and phone; None if no code is open or no try is left."""
    tried = (
        sa.update(PhoneVerification)
        .where(
            PhoneVerification.user_id == user_id,
            PhoneVerification.method == VerificationMethod.CODE,
            PhoneVerification.tries < MOST_TRIES,
            PhoneVerification.expires_at > sa.func.statement_timestamp(),
        )
        .values(tries=PhoneVerification.tries + 1)
        .returning(PhoneVerification.code_hash, PhoneVerification.phone)
    )
    # In a transaction of its own: a refusal rolls back the request's, and the try would not count.
    with own_transaction() as session:
        return session.execute(tried).one_or_none()
