"""Registration, login, password reset and the caller's own profile."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.accounts import moves, notices
from app.core.contact import ask_administrator
from app.core.database import db_time
from app.core.database.session import db, unit_of_work
from app.core.errors import BadRequest, Forbidden, ValidationFailed
from app.core.media import pictures
from app.core.settings import settings
from app.core.web import rate_limits
from app.core.web.fields import Loaded
from app.core.web.parsing import NO_FILE
from app.identity import (
    consents,
    credentials,
    dependents,
    erasure,
    field_encryption,
    notification_settings,
    own_password,
    phones,
    second_factor,
    sessions,
    tokens,
    usernames,
    users,
)
from app.identity.consents import ConsentSource, Purpose
from app.identity.models import SELF_SERVICE, PasswordReset, RoleName, User
from app.identity.roles import choose_own_roles, roles_named
from app.identity.schemas import shown_nik
from app.identity.sessions import Caller, TokenPair
from app.notifications import outbox
from app.notifications.models import About, Channel
from app.notifications.senders import numbers
from app.providers import captcha

#: Kind of the message with a password reset link.
RESET = "password_reset"
RESET_LIFETIME = timedelta(minutes=30)
RESET_TEXT = (
    "Gunakan tautan ini untuk mengatur ulang kata sandi Anda: {link}\n"
    "Tautan berlaku {minutes} menit. Abaikan pesan ini bila Anda tidak memintanya."
)
RESET_REFUSED_TEXT = (
    "Permintaan mengatur ulang kata sandi akun Anda ditolak, karena nomor HP akun itu baru saja diganti."
)
STAYS = "Penghapusan akun Anda dibatalkan. Akun Anda tetap ada."
WITHDRAW_LATER = "tidak dapat ditarik saat menerima akun. Tariklah sesudah mendaftar, di profil Anda."
LOGGED_IN = "Berhasil masuk sebagai superadmin."
#: Limit on the new e-mails and numbers that a user tries. Each try reveals whether another account has the value.
CONTACT_CHANGES = "10 per hour"
#: Limit on the new passwords that a user sets, because each one sends a notice. Passwords set with a reset link do not
#: count.
NEW_PASSWORDS = "5 per hour"


@dataclass(frozen=True)
class Availability:
    available: bool
    message: str


def register(data: Loaded, remote_ip: str | None, *, device: str | None = None) -> TokenPair:
    """Create an account for a patient or caregiver, or take over the account of a dependent. Log in."""
    role = (data.get("role") or RoleName.PASIEN).lower()
    code = data.get("handover_code")
    if code is None and role not in SELF_SERVICE:
        raise Forbidden("Peran tersebut tidak dapat dipilih saat mendaftar.", code="role_not_allowed")
    captcha.verify(data.get("captcha_response"), remote_ip)  # calls a provider, so before the unit of work
    with unit_of_work():
        user = _create(data, role) if code is None else _take_over(code, data)
        return sessions.begin(user, device)


def _create(data: Loaded, role: str) -> User:
    user = users.create(data, [role])
    if role_ids := data.get("role_ids"):
        choose_own_roles(user, {*role_ids, *user.role_ids})
    notification_settings.record_consents(user, data.get("consents", {}), way=ConsentSource.REGISTRATION)
    return user


def _take_over(code: str, data: Loaded) -> User:
    """Make a dependent the owner of their account. Notify the dependent and the caregiver who managed the account.

    Raise `ValidationFailed` for an invalid handover code. After an error in another field, the code stays valid.
    """
    sent = dict(data.get("consents", {}))
    if sent.get("health_data") is False:
        raise ValidationFailed({"consents": {"health_data": [WITHDRAW_LATER]}})
    user = dependents.redeem(code)
    if db.session.scalar(sa.select(consents.is_withdrawn(user.id, Purpose.HEALTH_DATA))):
        sent.pop("health_data", None)  # a user can give a withdrawn consent again only in the profile
    users.update(user, data)
    user.roles = roles_named([RoleName.PASIEN])
    notification_settings.record_consents(user, sent, way=ConsentSource.REGISTRATION)
    notices.handed_over(dependents.release(user))
    return user


def login(username: str, password: str, otp: str | None = None, *, device: str | None = None) -> dict[str, str]:
    """Log in and return the session's tokens.

    If an erasure of the account is scheduled, cancel the erasure, and return a `message` that says so.
    """
    user = _with_password(username, password)
    second_factor.check(user, otp)
    message = {"message": STAYS} if erasure.cancel(user) else {}
    return {**vars(sessions.begin(user, device)), **message}


def superadmin_login(
    username: str, password: str, otp: str | None = None, *, device: str | None = None
) -> dict[str, str]:
    """Log in a super-admin and return an access token and a message. Raise `Forbidden` for any other role.

    If an erasure of the account is scheduled, cancel the erasure, and say so in the message.
    """
    user = _with_password(username, password)
    if RoleName.SUPERADMIN not in user.role_names:
        raise Forbidden("Hanya untuk superadmin.", code="superadmin_only")
    # Check the role before `otp`, the code of the second factor. Otherwise the 403 for another role would reveal that
    # the code is right.
    second_factor.check(user, otp)
    second_factor.check_set_up(user)
    message = STAYS if erasure.cancel(user) else LOGGED_IN
    return {"access_token": sessions.begin_superadmin(user, device), "message": message}


def check_username(username: str) -> Availability:
    if problem := usernames.problem(username):
        return Availability(False, f"Nama pengguna {problem}")
    if users.username_exists(username):
        return Availability(False, "Nama pengguna sudah dipakai.")
    return Availability(True, "Nama pengguna tersedia.")


def send_reset_link(phone: str) -> bool:
    """Send a password reset link to the account with this number. Return whether a link is sent.

    The number of SQL statements is the same for every phone number, so that the response time does not reveal an
    account. No link is sent to an unknown number, or to a number that was reported as wrong. No link is sent to a
    number that an account got recently, or to an unverified number unused for 90 days. If the account changed its
    number recently, a refusal is sent to the previous number, because a thief may have changed the number.
    """
    number = phones.normalise(phone)
    code = tokens.new_opaque()
    token_hash = tokens.digest(code)
    moment = db_time.now()
    expires_at = moment + RESET_LIFETIME
    user_id = db.session.scalar(
        insert(PasswordReset)
        .from_select(
            ["user_id", "token_hash", "expires_at"],
            sa.select(User.id, sa.literal(token_hash), sa.literal(expires_at))
            .where(User.phone == number)
            .where(sa.func.coalesce(User.phone_changed_at <= moment - users.NEW_PHONE, sa.true()))
            .where(~moves.IS_RECENT, ~numbers.IS_WRONG, ~numbers.IS_SILENT)
            # this lock makes the request wait while the user is being deleted
            .with_for_update(of=User, read=True, key_share=True),
        )
        .on_conflict_do_update(index_elements=["user_id"], set_={"token_hash": token_hash, "expires_at": expires_at})
        .returning(PasswordReset.user_id)
    )
    owner = users.owner_of_phone(number)
    text = RESET_TEXT.format(
        link=f"{settings.frontend_url}/reset-password?code={code}", minutes=int(RESET_LIFETIME.total_seconds() // 60)
    )
    dedupe_key, about, is_wanted = f"password_reset:{token_hash}", None, user_id is not None
    if user_id:
        about = About("user", user_id)
    elif owner and owner.phone_before and owner.phone_changed_at and moment - owner.phone_changed_at < users.NEW_PHONE:
        # The dedupe key contains the time of the change, so that only one refusal is sent for each changed number.
        dedupe_key = f"password_reset_refused:{owner.id}:{owner.phone_changed_at.timestamp():.0f}"
        text = RESET_REFUSED_TEXT + ask_administrator("Kalau bukan Anda yang menggantinya, segera")
        number, expires_at, is_wanted = owner.phone_before, moment + notices.LIFETIME, True
    if about:
        outbox.cancel(about, [RESET])  # a newer link replaces the older one
    elif is_wanted:
        outbox.cancel_one(dedupe_key)
    outbox.add(
        outbox.NewDelivery(
            kind=RESET,
            channel=Channel.MESSAGING,
            dedupe_key=dedupe_key,
            words={"text": text},
            target=number,
            user_id=user_id,
            about=about,
            expires_at=expires_at,
        )
    )
    if not is_wanted:
        outbox.cancel_one(dedupe_key)
    return user_id is not None


def reset_password(code: str, new_password: str) -> None:
    """Set a new password with the code of a reset link. End all sessions of the user.

    A used code does not work again.
    """
    is_open = (PasswordReset.token_hash == tokens.digest(code)) & (PasswordReset.expires_at > sa.func.now())
    # Lock the user before the row of the reset, because deletions and updates of a user lock in the same order. If two
    # requests use the same code, only one request finds the row.
    whose = sa.select(PasswordReset.user_id).where(is_open).scalar_subquery()
    user = db.session.scalar(sa.select(User).where(User.id == whose).with_for_update(of=User, key_share=True))
    used = sa.delete(PasswordReset).where(is_open).returning(PasswordReset.user_id)
    if user is None or db.session.scalar(used) is None:
        raise BadRequest("Tautan tidak valid atau sudah kedaluwarsa. Silakan minta yang baru.", code="invalid_code")
    users.set_password(user, new_password, field="new_password")
    notices.account_changed(user, {"password"}, phone_before=user.phone)


def get_profile(caller: Caller) -> User:
    return _with_problem(users.get_own(caller))


def update_profile(caller: Caller, data: Loaded) -> User:
    """Update the caller's own record. Missing fields stay unchanged."""
    user = users.get_own(caller, to_change=True)
    data = _without_repeats(user, data)
    changes = users.credentials_changed(user, data)
    check_may_change(user, changes, data.get("current_password"))
    phone_before = user.phone
    if "role_ids" in data:
        choose_own_roles(user, data["role_ids"])
    users.update(user, data, keep_session=caller.session_id)
    notify_of_change(user, changes, phone_before)
    return _with_problem(user)


def notify_of_change(user: User, changes: set[str], phone_before: str | None) -> None:
    """Notify the user of changes. After too many new passwords, raise `TooManyRequests`, which undoes the changes."""
    if "password" in changes:
        rate_limits.count(NEW_PASSWORDS, "password", f"user:{user.id}")
    if changes:
        notices.account_changed(user, changes, phone_before=phone_before)


def _with_problem(user: User) -> User:
    user.phone_problem = numbers.problem_of(user)
    return user


def _without_repeats(user: User, data: Loaded) -> Loaded:
    """Return `data` without values that equal the current profile, because forms send the whole profile back.

    An old profile may have a NIK of an old format, or no phone number. The user may keep such a value. Raise
    `ValidationFailed` if the user changes a field to such a value.
    """
    shown = {"nama_samaran": user.nama_samaran, "nomor_hp": user.nomor_hp, "image": pictures.url(user.image)}
    if "nik" in data:
        shown["nik"] = shown_nik(user)
    data = {name: value for name, value in data.items() if name not in shown or value != shown[name]}
    for name in ("nama_samaran", "nomor_hp"):
        if name in data and data[name] is None:
            raise ValidationFailed({name: ["tidak boleh kosong."]})
    if isinstance(data.get("image"), str):
        raise ValidationFailed({"image": [NO_FILE]})
    if (number := data.get("nik")) and not re.fullmatch(field_encryption.FORM, number):
        raise ValidationFailed({"nik": [field_encryption.WRONG_FORM]})
    return data


def begin_otp(caller: Caller, password: str) -> second_factor.Setup:
    return second_factor.begin(own_password.get_confirmed(caller, password))


def confirm_otp(caller: Caller, otp: str) -> None:
    second_factor.confirm(users.get_own(caller).id, otp)
    sessions.end_all(caller.id, keep=caller.session_id)  # the other sessions were created without the second factor


def get_otp(caller: Caller) -> second_factor.SecondFactorStatus:
    return second_factor.status(users.get_own(caller))


def replace_recovery_codes(caller: Caller, password: str, otp: str) -> list[str]:
    return second_factor.replace_recovery_codes(own_password.get_confirmed(caller, password), otp)


def end_otp(caller: Caller, password: str, otp: str) -> None:
    second_factor.end(own_password.get_confirmed(caller, password).id, otp)


def check_may_change(user: User, changes: set[str], current_password: str | None) -> None:
    """Count a change of the e-mail or number, and check the current password if it is sent.

    `PROFILE_REAUTH=required` makes the current password mandatory, so that a stolen session cannot change the e-mail,
    the number or the password.
    """
    if changes - {"password"}:
        rate_limits.count(CONTACT_CHANGES, "contact", f"user:{user.id}")
    if changes and current_password is not None:
        credentials.check_password(user, current_password)
    if changes and current_password is None and settings.profile_reauth == "required":
        raise BadRequest("Masukkan kata sandi Anda saat ini.", code="current_password_required")


def _with_password(username: str, password: str) -> User:
    user = credentials.authenticate(username, password)
    if user is None:
        raise credentials.WrongCredentials
    return user
