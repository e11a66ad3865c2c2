"""Whose number it is: a person shows it by a message that comes from the number, or by six digits that went to it.

What is asked says nothing of whether the number is known: nothing is looked up before somebody has shown that it is
theirs. Then it moves to them from an account that never did.
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

from app.accounts import notices, service
from app.core.database import clock
from app.core.database.session import db, own_transaction, translating
from app.core.errors import AppError, BadRequest, ValidationFailed
from app.core.settings import settings
from app.core.web import rate_limits
from app.core.web.fields import Loaded
from app.identity import codes, phones, sessions, users
from app.identity.models import PasswordReset, PhoneVerification, User, VerificationMethod
from app.identity.sessions import Caller
from app.notifications import outbox
from app.notifications.models import About, Channel

LIFETIME = timedelta(minutes=15)
#: What a person writes, before the code.
WORD = "VERIFIKASI"
CHARACTERS = 6
DIGITS = 6
#: How often six digits may be tried.
MOST_TRIES = 5
#: How often they are sent to one number, whoever asks.
SENT = "3 per day"
#: Of the message with six digits: WhatsApp takes it by a template for codes alone.
KIND = "phone_code"
TEXT = (
    "Kode verifikasi nomor HP Anda: {code}. Berlaku {minutes} menit. "
    "Jangan berikan kepada siapa pun. Abaikan pesan ini bila Anda tidak memintanya."
)
CONSTRAINTS: dict[str, AppError] = {"fk_phone_verifications_session_id": sessions.ended()}


class WrongCode(BadRequest):
    code = "invalid_code"
    message = "Kode salah atau sudah kedaluwarsa. Silakan minta kode yang baru."


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
    #: Somebody else has shown before that the number is theirs.
    TAKEN = "taken"


def create(caller: Caller, data: Loaded) -> Asked:
    """Open a proof of the caller's number, or of another one that is theirs as soon as it is proven."""
    user = users.get_own(caller, to_change=True)
    nomor_hp = data.get("nomor_hp") or user.nomor_hp
    phone = phones.normalise(nomor_hp) if nomor_hp else None
    if nomor_hp is None or phone is None:
        raise ValidationFailed({"nomor_hp": ["wajib diisi."]})
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
        _send(user.id, phone, code)
    _open(caller, method, nomor_hp=nomor_hp, phone=phone, code=code, expires_at=expires_at)
    if method is VerificationMethod.CODE:
        return {"code": None, "link": None, "expires_at": expires_at}
    return {"code": code, "link": _link(code), "expires_at": expires_at}


def confirm(caller: Caller, code: str) -> User:
    """The caller repeats the six digits. `WrongCode`; `Conflict` when somebody else has proven the number."""
    code_hash = digest(VerificationMethod.CODE, codes.normalise(code), caller.id)
    open_hash = _take_try(caller.id)
    if open_hash is None or not hmac.compare_digest(open_hash, code_hash):
        raise WrongCode
    match prove(caller.id, VerificationMethod.CODE, code_hash):
        case Proof.UNKNOWN_CODE:
            raise WrongCode
        case Proof.TAKEN:
            raise users.CONSTRAINTS["uq_users_phone"]
    return users.get_own(caller)


def confirm_by_message(phone: str, code: str) -> Proof:
    """Somebody wrote to us from this number (E.164) the word with this code, which works once and from there alone.

    Called inside a unit of work, in which all that follows from it happens.
    """
    code_hash = digest(VerificationMethod.MESSAGE, codes.normalise(code))
    asked = sa.select(PhoneVerification.user_id).where(
        PhoneVerification.method == VerificationMethod.MESSAGE,
        PhoneVerification.code_hash == code_hash,
        PhoneVerification.phone == phone,
    )
    user_id = db.session.scalar(asked)
    return Proof.UNKNOWN_CODE if user_id is None else prove(user_id, VerificationMethod.MESSAGE, code_hash)


def digest(method: VerificationMethod, code: str, user_id: int | None = None) -> str:
    """What is stored of a code. Six digits are soon equal to somebody else's, so they are hashed with the person."""
    return codes.digest(f"phone_{method}:{user_id or ''}", code)


def prove(user_id: int, method: VerificationMethod, code_hash: str) -> Proof:
    """Use the open request, which one caller alone gets, and give its number to whoever made it."""
    # The person first, as everybody locks who deletes or changes them.
    user = db.session.get(User, user_id, with_for_update={"of": User, "key_share": True}, populate_existing=True)
    used = (
        sa.delete(PhoneVerification)
        .where(
            PhoneVerification.user_id == user_id,
            PhoneVerification.method == method,
            PhoneVerification.code_hash == code_hash,
            PhoneVerification.expires_at > sa.func.statement_timestamp(),
        )
        .returning(PhoneVerification.phone, PhoneVerification.nomor_hp)
    )
    request = db.session.execute(used).one_or_none()
    if user is None or request is None:
        return Proof.UNKNOWN_CODE
    # Whoever has it may just be losing it to somebody who shows at this moment that it is theirs.
    holder = _lock_holder(request.phone, user_id) or _lock_holder(request.phone, user_id)
    if holder is not None and holder.phone_verified_at is not None:
        return Proof.TAKEN
    if holder is not None:
        _take_number(holder)
    _give_number(user, request.nomor_hp)
    return Proof.PROVEN


def _open(caller: Caller, method: VerificationMethod, *, code: str, **values: object) -> None:
    """The caller's one open request of a method; an older one ends."""
    values["code_hash"] = digest(method, code, caller.id if method is VerificationMethod.CODE else None)
    values["session_id"] = caller.session_id
    with translating(CONSTRAINTS):
        db.session.execute(
            insert(PhoneVerification)
            .values(user_id=caller.id, method=method, **values)
            .on_conflict_do_update(
                index_elements=["user_id", "method"], set_={**values, "tries": 0, "created_at": sa.func.now()}
            )
        )


def _send(user_id: int, phone: str, code: str) -> None:
    """Send six digits to a number, whoever's it may be, at most so often a day."""
    rate_limits.count(SENT, KIND, codes.digest(KIND, phone))
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


def _take_try(user_id: int) -> str | None:
    """Count a try, whatever becomes of it; the hash of the open code, or None when there is none or no try is left."""
    tried = (
        sa.update(PhoneVerification)
        .where(
            PhoneVerification.user_id == user_id,
            PhoneVerification.method == VerificationMethod.CODE,
            PhoneVerification.tries < MOST_TRIES,
            PhoneVerification.expires_at > sa.func.statement_timestamp(),
        )
        .values(tries=PhoneVerification.tries + 1)
        .returning(PhoneVerification.code_hash)
    )
    # In a transaction of its own: a refusal rolls back the request's, and the try would not count.
    with own_transaction() as session:
        return session.scalar(tried)


def _lock_holder(phone: str, except_id: int) -> User | None:
    held = sa.select(User).where(User.phone == phone, User.id != except_id)
    lock = held.with_for_update(of=User, key_share=True)
    return db.session.scalar(lock.execution_options(populate_existing=True))


def _take_number(holder: User) -> None:
    """Of an account that never showed that the number is its own: it keeps its login, without the number."""
    users.update(holder, {"nomor_hp": None})
    # Nothing that was meant for it may go to the number's owner: neither an open reset link nor word of the next one.
    holder.phone_changed_at = holder.phone_before = None
    db.session.execute(sa.delete(PasswordReset).where(PasswordReset.user_id == holder.id))
    db.session.flush()
    notices.number_taken(holder)


def _give_number(user: User, nomor_hp: str) -> None:
    before = user.phone
    users.update(user, {"nomor_hp": nomor_hp})
    user.phone_verified_at, user.phone_invalid_at = clock.now(), None
    db.session.execute(sa.delete(PhoneVerification).where(PhoneVerification.user_id == user.id))
    db.session.flush()
    if user.phone != before:
        notices.account_changed(user, {"nomor_hp"}, phone_before=before)
