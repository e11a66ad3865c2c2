"""Registration, login, password reset and the caller's own profile."""

from __future__ import annotations

import re

from app.accounts import moves, notices
from app.core.database.session import unit_of_work
from app.core.errors import BadRequest, Forbidden, ValidationFailed
from app.core.media import pictures
from app.core.settings import settings
from app.core.web import rate_limits
from app.core.web.fields import Loaded
from app.core.web.parsing import NO_FILE
from app.identity import (
    credentials,
    erasure,
    field_encryption,
    notification_settings,
    second_factor,
    sessions,
    usernames,
    users,
)
from app.identity.consents import ConsentSource
from app.identity.models import SELF_SERVICE, RoleName, User
from app.identity.roles import choose_own_roles
from app.identity.schemas import shown_nik
from app.identity.sessions import Caller, TokenPair
from app.notifications.senders import numbers
from app.providers import captcha

STAYS = "Penghapusan akun Anda dibatalkan. Akun Anda tetap ada."
LOGGED_IN = "Berhasil masuk sebagai superadmin."
#: Limit on the new e-mails and numbers that a user tries. Each try reveals whether another account has the value.
CONTACT_CHANGES = "10 per hour"
#: Limit on the new passwords that a user sets, because each one sends a notice. Passwords set with a reset link do not
#: count.
NEW_PASSWORDS = "5 per hour"


def register(data: Loaded, remote_ip: str | None, *, device: str | None = None) -> TokenPair:
    """Create an account for a patient or caregiver, and log in."""
    role = (data.get("role") or RoleName.PASIEN).lower()
    if role not in SELF_SERVICE:
        raise Forbidden("Peran tersebut tidak dapat dipilih saat mendaftar.", code="role_not_allowed")
    captcha.verify(data.get("captcha_response"), remote_ip)  # calls a provider, so before the unit of work
    with unit_of_work():
        user = users.create(data, [role])
        if role_ids := data.get("role_ids"):
            choose_own_roles(user, {*role_ids, *user.role_ids})
        notification_settings.record_consents(user, data.get("consents", {}), way=ConsentSource.REGISTRATION)
        return sessions.begin(user, device)


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


def check_username(username: str) -> dict[str, object]:
    if problem := usernames.problem(username):
        return {"available": False, "message": f"Nama pengguna {problem}"}
    if users.username_exists(username):
        return {"available": False, "message": "Nama pengguna sudah dipakai."}
    return {"available": True, "message": "Nama pengguna tersedia."}


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


def free_phone(caller: Caller, current_password: str | None) -> User:
    """Remove the caller's own number from the account, so that another account can use the number."""
    user = users.get_own(caller, to_change=True)
    if (phone := user.phone) is not None:
        check_may_change(user, {"nomor_hp"}, current_password)
        moves.free(user)
        notices.account_changed(user, {"nomor_hp"}, phone_before=phone)
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


def confirm_otp(caller: Caller, otp: str) -> None:
    second_factor.confirm(users.get_own(caller).id, otp)
    sessions.end_all(caller.id, keep=caller.session_id)  # the other sessions were created without the second factor


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
