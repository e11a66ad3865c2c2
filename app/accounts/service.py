"""Registration, login, password reset and people's own profile."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.accounts.schemas import NewAccount, ProfileChanges
from app.core.database import clock
from app.core.database.session import db
from app.core.errors import BadRequest, Forbidden, Unauthorized, ValidationFailed
from app.core.settings import settings
from app.identity import phones, sessions, tokens, usernames, users
from app.identity.models import SELF_SERVICE, PasswordReset, RoleName, User
from app.identity.sessions import Caller, TokenPair
from app.notifications import outbox
from app.notifications.models import Channel
from app.providers import captcha

RESET_LIFETIME = timedelta(minutes=30)
RESET_TEXT = (
    "Gunakan tautan ini untuk mengatur ulang kata sandi Anda: {link}\n"
    "Tautan berlaku {minutes} menit. Abaikan pesan ini bila Anda tidak memintanya."
)


@dataclass(frozen=True)
class Availability:
    available: bool
    message: str


def register(data: NewAccount, remote_ip: str | None) -> TokenPair:
    """A new pasien or pendamping, logged in at once."""
    role = (data.get("role") or RoleName.PASIEN).lower()
    if role not in SELF_SERVICE:
        raise Forbidden("Peran tersebut tidak dapat dipilih saat mendaftar.", code="role_not_allowed")
    # Before the first statement, so that no transaction is open while the verifier responds.
    captcha.verify(data.get("captcha_response"), remote_ip)
    user = users.create(data, [role])
    if role_ids := data.get("role_ids"):
        users.choose_own_roles(user, {*role_ids, *user.role_ids})
    return sessions.begin(user)


def login(username: str, password: str) -> TokenPair:
    return sessions.begin(_with_credentials(username, password))


def superadmin_login(username: str, password: str) -> str:
    """An access token that opens the super-admin routes; right credentials of anybody else are `Forbidden`."""
    user = _with_credentials(username, password)
    if RoleName.SUPERADMIN not in user.role_names:
        raise Forbidden("Hanya untuk superadmin.", code="superadmin_only")
    return sessions.begin_superadmin(user)


def check_username(username: str) -> Availability:
    if problem := usernames.problem(username):
        return Availability(False, f"Nama pengguna {problem}")
    if users.username_exists(username):
        return Availability(False, "Nama pengguna sudah dipakai.")
    return Availability(True, "Nama pengguna tersedia.")


def send_reset_link(phone: str) -> None:
    """Store a reset token and its message for whoever has this number.

    An unknown number costs the same statements, so that the response time does not say whether it is known: its
    message is cancelled in the transaction that adds it.
    """
    number = phones.normalise(phone)
    code = tokens.new_opaque()
    token_hash = tokens.digest(code)
    expires_at = clock.now() + RESET_LIFETIME
    user_id = db.session.scalar(
        insert(PasswordReset)
        .from_select(
            ["user_id", "token_hash", "expires_at"],
            sa.select(User.id, sa.literal(token_hash), sa.literal(expires_at)).where(User.phone == number),
        )
        .on_conflict_do_update(index_elements=["user_id"], set_={"token_hash": token_hash, "expires_at": expires_at})
        .returning(PasswordReset.user_id)
    )
    link = f"{settings.frontend_url}/reset-password?code={code}"
    subject = f"password_reset:{user_id or token_hash}"
    if user_id:
        outbox.cancel(subject)  # an older link, which this one has replaced
    outbox.add(
        kind="password_reset",
        channel=Channel.MESSAGING,
        dedupe_key=f"password_reset:{token_hash}",
        payload={"text": RESET_TEXT.format(link=link, minutes=int(RESET_LIFETIME.total_seconds() // 60))},
        target=number,
        user_id=user_id,
        subject=subject,
        expires_at=expires_at,
    )
    if not user_id:
        outbox.cancel(subject)


def reset_password(code: str, new_password: str) -> None:
    """Set the password of whoever got this code; it works once, and ends every session of that person."""
    user_id = db.session.scalar(
        sa.delete(PasswordReset)
        .where(PasswordReset.token_hash == tokens.digest(code), PasswordReset.expires_at > sa.func.now())
        .returning(PasswordReset.user_id)
    )
    if user_id is None:
        raise BadRequest("Tautan tidak valid atau sudah kedaluwarsa. Silakan minta yang baru.", code="invalid_code")
    users.set_password(db.session.get_one(User, user_id), new_password)


def get_profile(caller: Caller) -> User:
    return db.session.get_one(User, caller.id)


def update_profile(caller: Caller, data: ProfileChanges) -> User:
    """Change the caller's own record; what is absent stays."""
    user = get_profile(caller)
    for name in ("nama_ktp", "nama_samaran", "nomor_hp"):
        if name in data and data[name] is None:
            raise ValidationFailed({name: ["tidak boleh kosong."]})
    if "role_ids" in data:
        users.choose_own_roles(user, data["role_ids"])
    return users.update(user, data)


def get_roles(caller: Caller, user_id: int) -> User:
    """The caller with their roles; an administrator may ask about anybody."""
    if user_id != caller.id and not caller.has(RoleName.ADMIN, RoleName.SUPERADMIN):
        raise Forbidden
    return users.get(user_id)


def _with_credentials(username: str, password: str) -> User:
    user = users.authenticate(username, password)
    if user is None:
        raise Unauthorized("Nama pengguna atau kata sandi salah.", code="wrong_credentials")
    return user
