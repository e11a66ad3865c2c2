"""Routes of login, registration and the caller's own account."""

from __future__ import annotations

from flask import request

from app.accounts import resets, schemas, service, verification
from app.core.lib import provinces
from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.caching import A_DAY_S, cached
from app.core.web.dispatch import in_a_unit, in_steps
from app.core.web.fields import Loaded
from app.core.web.idempotency import secret_answer
from app.core.web.rate_limits import by_body, caller_network, limit
from app.identity import credentials, devices, sessions, users
from app.identity.access import authenticated, by_caller, caller, public
from app.identity.models import User
from app.identity.own_password import limit_own_password
from app.identity.second_factor import OtpRefused
from app.identity.sessions import TokenPair
from app.identity.upload_limits import limit_uploads

bp = Blueprint("accounts", __name__, description="Registration, login, password reset and the caller's own profile")

#: Errors of a wrong login. `OtpRequired` is none of them, because the password is right.
WRONG = (credentials.WrongCredentials, OtpRefused)

account = by_body(schemas.Login, "username", credentials.login_key)


def from_network() -> str | None:
    """Return the rate limit key for wrong passwords. It consists of the account and the caller's network."""
    key = account()
    return f"{key}:{caller_network()}" if key else None


def _device() -> str:
    return devices.name_of(request.user_agent.string)


@bp.post("/login")
@public
@limit("10 per 5 minutes", key=from_network, counts=WRONG)
@limit("100 per hour", key=account, counts=WRONG)
@limit("60 per minute")
@bp.arguments(schemas.Login, example={"username": "siti", "password": "rahasia123"})
@bp.response(200, schemas.LoginTokens)
def login(data: Loaded) -> dict[str, str]:
    """Log in with username, e-mail or phone number. Return an access token and a refresh token.

    Send the access token with each request: `Authorization: Bearer <access_token>`. An administrator with a second
    factor also sends `otp`. A login cancels the caller's request for erasure, which is possible for seven days.
    """
    return service.login(**data, device=_device())


@bp.post("/superadmin/login")
@public
@limit("10 per 5 minutes", key=from_network, counts=WRONG)
@limit("100 per hour", key=account, counts=WRONG)
@limit("20 per minute")
@bp.arguments(schemas.Login)
@bp.response(200, schemas.SuperadminToken)
def superadmin_login(data: Loaded) -> dict[str, str]:
    """Log in as a super-admin. Return a short-lived access token without a refresh token."""
    return service.superadmin_login(**data, device=_device())


@bp.post("/register")
@in_steps
@public
@limit("20 per minute; 200 per day")
@bp.arguments(schemas.Registration)
@bp.response(201, schemas.Tokens)
def register(data: Loaded) -> TokenPair:
    """Register as pasien or pendamping, and log in. Without `role` the person is a pasien.

    The response is 403 `role_not_allowed` for another role. It is 409 `username_taken`, `email_taken` or `phone_taken`
    if another account has this value. It is 400 `captcha_failed` if the human verification failed, and 503
    `captcha_unavailable` if its provider does not respond.
    """
    return service.register(data, request.remote_addr, device=_device())


@bp.post("/refresh")
@public
@limit("120 per minute")
@bp.arguments(schemas.Refresh)
@bp.response(200, schemas.AccessToken)
def refresh(data: dict[str, str]) -> dict[str, str]:
    """Return a new access token. The refresh token stays valid."""
    return {"access_token": sessions.refresh(data["refresh_token"])}


@bp.post("/auth/check-username")
@public
@limit("60 per minute")
@bp.arguments(schemas.UsernameCheck)
@bp.response(200, schemas.Availability)
def check_username(data: dict[str, str]) -> dict[str, object]:
    """Return whether a username is available."""
    return service.check_username(data["username"])


@bp.get("/send-verification-code")
@in_a_unit
@public
@limit("10 per minute")
@bp.arguments(schemas.PhoneQuery, location="query")
@bp.response(200, MessageSchema)
def send_verification_code(data: dict[str, str]) -> dict[str, str]:
    """Send a password reset link to a phone number. The response is the same for an unknown number."""
    resets.send_link(data["phone"])
    return {"message": "Bila nomor terdaftar, tautan atur ulang kata sandi telah dikirim."}


@bp.post("/update-password")
@public
@limit("20 per minute")
@bp.arguments(schemas.NewPassword)
@bp.response(200, MessageSchema)
def update_password(data: Loaded) -> dict[str, str]:
    """Set a new password with the code of a reset link."""
    resets.reset_password(**data)
    return {"message": "Kata sandi berhasil diubah. Silakan masuk."}


@bp.post("/logout")
@authenticated
@bp.response(200, MessageSchema)
def logout() -> dict[str, str]:
    """End this session, its access token, its push subscriptions and its open invitations."""
    sessions.end(caller)
    return {"message": "Berhasil keluar."}


@bp.get("/profile")
@authenticated
@bp.response(200, schemas.Profile)
def get_profile() -> User:
    """Return the caller's own record, with the NIK decrypted."""
    return service.get_profile(caller)


@bp.put("/profile")
@authenticated
@limit_own_password
@limit_uploads
@bp.arguments(schemas.ProfileUpdate, location="multipart")
@bp.response(200, schemas.Profile)
def update_profile(data: Loaded) -> User:
    """Update the caller's own record. Missing fields stay unchanged.

    A new password ends all other sessions. A change of password, e-mail or number is reported to the old and the new
    number. Per hour, ten new e-mails and numbers and five new passwords are allowed.
    """
    return service.update_profile(caller, data)


@bp.post("/profile/phone/verification")
@authenticated
@secret_answer
@limit_own_password
@limit("20 per hour", key=by_caller)
@bp.arguments(schemas.VerificationCreate)
@bp.response(201, schemas.Verification)
def create_phone_verification(data: Loaded) -> dict[str, object]:
    """Start the verification of the caller's own number, or of a new number, which then replaces the old one.

    The user sends `VERIFIKASI` and the code to us from the number. A code is valid once, for 15 minutes. A new code
    replaces the older one. If another account uses the number, the number stays there.
    """
    return verification.create(caller, data)


@bp.delete("/profile/phone")
@authenticated
@limit_own_password
@bp.arguments(schemas.PhoneRelease)
@bp.response(200, schemas.Profile)
def free_own_phone(data: dict[str, str]) -> User:
    """Remove the caller's own number from the account. Open verifications, reset links and messages to it end."""
    return service.free_phone(caller, data.get("current_password"))


@bp.get("/users/<int:user_id>")
@authenticated
@bp.response(200, schemas.OwnRoles)
def get_user_roles(user_id: int) -> User:
    """Return a user's roles. Only administrators may request another user."""
    return users.get_visible(user_id, to=caller)


@bp.get("/provinces")
@public
@cached(60, stale_if_error_s=A_DAY_S)
@bp.plain_response(200, {"type": "array", "items": {"type": "string"}, "example": ["Aceh", "Sumatera Utara"]})
def list_provinces() -> tuple[str, ...]:
    """Return the 38 provinces allowed as domicile."""
    return provinces.PROVINCES
