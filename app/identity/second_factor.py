"""The second factor of administrators: six digits of an authenticator app (RFC 6238), in addition to the password.

A recovery code can replace the digits, for example after a lost phone. Each code works only once. Every check locks the
row of the second factor, and marks an accepted code as used.
"""

from __future__ import annotations

import hmac
import logging
import re
from datetime import datetime

import pyotp
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import SECRET, Delete, Personal, Rows
from app.core.database.session import Base, Created, db
from app.core.errors import AppError, BadRequest, Conflict, Forbidden, NotFound, Unauthorized
from app.core.lib.local_time import now
from app.core.settings import settings
from app.identity import codes, field_encryption
from app.identity.models import PRIVILEGED, RoleName, User

logger = logging.getLogger(__name__)

#: Name of the service in the authenticator app.
ISSUER = "Health-support"
FIELD = "otp"
RECOVERY = "otp_recovery"

NOT_ACTIVE = "Verifikasi dua langkah belum diaktifkan."

#: Number of 30-second steps by which the clock of a phone may be ahead or behind.
WINDOW = 1
RECOVERY_CODES = 10
#: Number of letters and digits in a recovery code. A code of this length has 79 random bits.
RECOVERY_LENGTH = 16


class SecondFactor(Base, Created):
    __tablename__ = "second_factors"
    __personal__ = Personal(
        of=("user_id",), export=Rows(without=("secret", "recovery_hashes", "last_counter")), erase=Delete()
    )

    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    secret: Mapped[str] = mapped_column(comment="TOTP secret, encrypted with AES-256-GCM like a NIK", info=SECRET)
    recovery_hashes: Mapped[list[str]] = mapped_column(
        ARRAY(sa.Text), comment="keyed hashes of the unused recovery codes", info=SECRET
    )
    confirmed_at: Mapped[datetime | None] = mapped_column(
        comment="when the person confirmed the factor; null: logins do not ask for a code yet"
    )
    last_counter: Mapped[int] = mapped_column(
        server_default=sa.text("0"),
        comment="TOTP time step of the last accepted code; only codes of later steps are accepted",
    )


class OtpRequired(Unauthorized):
    code = "otp_required"
    message = "Masukkan kode dari aplikasi autentikator Anda."


class OtpRefused(Unauthorized):
    """A wrong code at a login."""

    code = "invalid_otp"
    message = "Kode verifikasi salah atau sudah dipakai."


class WrongOtp(BadRequest):
    """A wrong code in a valid session. The status is 400, because clients log out after a 401."""

    code = OtpRefused.code
    message = OtpRefused.message


class OtpMissing(BadRequest):
    """A missing code in a valid session. The status is 400, because clients log out after a 401."""

    code = OtpRequired.code
    message = OtpRequired.message


def begin(user: User) -> dict[str, object]:
    """Store a new secret for an administrator. The second factor becomes active when `confirm` gets a valid code.

    Raise `Forbidden` if the person is no administrator. Raise `Conflict` if a second factor is already active.
    """
    _check_privileged(user)
    secret = pyotp.random_base32()
    recovery_codes, recovery_hashes = _new_recovery_codes()
    values = {"secret": field_encryption.encrypt(secret, user.id, field=FIELD), "recovery_hashes": recovery_hashes}
    stored = db.session.scalar(
        insert(SecondFactor)
        .values(user_id=user.id, **values)
        .on_conflict_do_update(
            index_elements=["user_id"], set_=values | {"last_counter": 0}, where=SecondFactor.confirmed_at.is_(None)
        )
        .returning(SecondFactor.user_id)
    )
    if stored is None:
        raise Conflict(
            "Verifikasi dua langkah sudah aktif. Matikan dahulu untuk memasang yang baru.", code="otp_active"
        )
    uri = pyotp.TOTP(secret, name=user.username, issuer=ISSUER).provisioning_uri()
    return {"uri": uri, "recovery_codes": recovery_codes}


def confirm(user_id: int, otp: str) -> None:
    """Activate the second factor that `begin` has stored for a person.

    Raise `NotFound` if no second factor waits for confirmation, and `WrongOtp` for a wrong code.
    """
    factor = _of(user_id)
    if factor is None or factor.confirmed_at is not None:
        raise NotFound("Tidak ada verifikasi dua langkah yang menunggu konfirmasi.")
    if not _take_code(factor, otp):
        raise WrongOtp
    factor.confirmed_at = now()
    db.session.flush()


def check(user: User, otp: str | None) -> None:
    """Check the code of a login. A person without an active second factor needs no code.

    Raise `OtpRequired` for a missing code, and `OtpRefused` for a wrong or used code.
    """
    _check_code(user.id, otp, OtpRequired, OtpRefused)


def check_again(user: User, otp: str | None) -> None:
    """Check a code in a valid session, before a sensitive change. Raise `OtpMissing` or `WrongOtp`.

    These errors have status 400, because clients log out after a response with status 401.
    """
    _check_code(user.id, otp, OtpMissing, WrongOtp)


def _check_code(user_id: int, otp: str | None, missing: type[AppError], refused: type[AppError]) -> None:
    factor = _of(user_id)
    if factor is None or factor.confirmed_at is None:
        return
    if not otp:
        raise missing
    if not _accepts(factor, otp):
        raise refused


def end(user_id: int, otp: str) -> None:
    """Delete a person's second factor. Raise `NotFound` if none is active, and `WrongOtp` for a wrong code."""
    _confirmed(user_id, otp)
    remove(user_id)


def remove(user_id: int) -> bool:
    """Delete a person's second factor without a code, for example after a lost phone. Return whether it existed."""
    removed = sa.delete(SecondFactor).where(SecondFactor.user_id == user_id).returning(SecondFactor.user_id)
    return db.session.scalar(removed) is not None


def status(user: User) -> dict[str, object]:
    """Return the state of an administrator's second factor. Raise `Forbidden` if the person is no administrator."""
    _check_privileged(user)
    left = sa.select(sa.func.cardinality(SecondFactor.recovery_hashes))
    is_asked_for = sa.and_(SecondFactor.user_id == user.id, SecondFactor.confirmed_at.is_not(None))
    recovery_codes_left = db.session.scalar(left.where(is_asked_for))
    return {"active": recovery_codes_left is not None, "recovery_codes_left": recovery_codes_left or 0}


def replace_recovery_codes(user: User, otp: str) -> list[str]:
    """Replace the recovery codes of a person and return the new codes.

    Raise `Forbidden` if the person is no administrator. Raise `NotFound` if no second factor is active, and `WrongOtp`
    for a wrong code.
    """
    _check_privileged(user)
    factor = _confirmed(user.id, otp)
    recovery_codes, factor.recovery_hashes = _new_recovery_codes()
    db.session.flush()
    return recovery_codes


def is_active(user_id: int) -> bool:
    active = sa.exists().where(SecondFactor.user_id == user_id, SecondFactor.confirmed_at.is_not(None))
    return bool(db.session.scalar(sa.select(active)))


def reencrypt() -> None:
    """If a secret is not encrypted with the first configured key, encrypt it again with this key.

    Skip secrets that cannot be decrypted. `unreadable` returns their owners.
    """
    prefix = field_encryption.stored_prefix()
    others = sa.select(SecondFactor).where(~SecondFactor.secret.startswith(prefix, autoescape=True)).with_for_update()
    factors = db.session.scalars(others).all()
    for factor in factors:
        try:
            secret = field_encryption.decrypt(factor.secret, factor.user_id, field=FIELD) or ""
        except field_encryption.UndecryptableField:
            continue
        factor.secret = field_encryption.encrypt(secret, factor.user_id, field=FIELD)


def unreadable() -> list[int]:
    """Return the ids of people whose second-factor secret cannot be decrypted."""
    broken = []
    secrets = sa.select(SecondFactor.user_id, SecondFactor.secret).order_by(SecondFactor.user_id)
    for user_id, secret in db.session.execute(secrets):
        try:
            field_encryption.decrypt(secret, user_id, field=FIELD)
        except field_encryption.UndecryptableField:
            broken.append(user_id)
    return broken


def allowed_roles(user_id: int, roles: frozenset[str]) -> frozenset[str]:
    """Return the roles that a person may use now.

    If the setting `ADMIN_OTP` is "required", the administrator roles need an active second factor.
    """
    if PRIVILEGED.isdisjoint(roles) or settings.admin_otp != "required" or is_active(user_id):
        return roles
    return roles - PRIVILEGED


def check_set_up(user: User) -> None:
    """Raise `Forbidden` if `ADMIN_OTP` is "required" and the super-admin `user` has no active second factor."""
    if RoleName.SUPERADMIN not in allowed_roles(user.id, frozenset(user.role_names)):
        raise setup_required()


def setup_required() -> Forbidden:
    return Forbidden("Aktifkan verifikasi dua langkah di profil Anda lebih dahulu.", code="otp_setup_required")


def _check_privileged(user: User) -> None:
    if PRIVILEGED.isdisjoint(user.role_names):
        raise Forbidden


def _new_recovery_codes() -> tuple[list[str], list[str]]:
    """Return new recovery codes in readable groups of four characters, and the hashes of the codes for storage."""
    new = [codes.new_code(RECOVERY_LENGTH) for _ in range(RECOVERY_CODES)]
    return ["-".join(re.findall(".{4}", code)) for code in new], [codes.digest(RECOVERY, code) for code in new]


def _confirmed(user_id: int, otp: str) -> SecondFactor:
    """Lock and return an active second factor. Raise `NotFound` if none is active, and `WrongOtp` for a wrong code."""
    factor = _of(user_id)
    if factor is None or factor.confirmed_at is None:
        raise NotFound(NOT_ACTIVE)
    if not _accepts(factor, otp):
        raise WrongOtp
    return factor


def _of(user_id: int) -> SecondFactor | None:
    return db.session.get(SecondFactor, user_id, with_for_update=True, populate_existing=True)


def _accepts(factor: SecondFactor, otp: str) -> bool:
    return _take_code(factor, otp) or _take_recovery_code(factor, otp)


def _take_code(factor: SecondFactor, otp: str) -> bool:
    """Return whether the code belongs to the present time (± `WINDOW` steps) and is newer than the last used code.

    Mark such a code as used. The row of the second factor must be locked.
    """
    digits = re.sub(r"\s", "", otp)
    if not re.fullmatch(r"[0-9]{6}", digits):
        return False
    try:
        totp = pyotp.TOTP(field_encryption.decrypt(factor.secret, factor.user_id, field=FIELD) or "")
    except field_encryption.UndecryptableField:
        logger.exception("the second factor of user %s cannot be read: its key is missing", factor.user_id)
        return False  # the person can still use a recovery code
    present = totp.timecode(now())
    for counter in range(present - WINDOW, present + WINDOW + 1):
        if counter > factor.last_counter and hmac.compare_digest(totp.generate_otp(counter), digits):
            factor.last_counter = counter
            db.session.flush()
            return True
    return False


def _take_recovery_code(factor: SecondFactor, otp: str) -> bool:
    digest = codes.digest(RECOVERY, codes.normalise(otp))
    if digest not in factor.recovery_hashes:
        return False
    factor.recovery_hashes = [code for code in factor.recovery_hashes if code != digest]
    db.session.flush()
    return True
