"""Routes for the second factor of administrators."""

from __future__ import annotations

from app.accounts import schemas, service
from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.idempotency import secret_answer
from app.core.web.rate_limits import limit
from app.identity import own_password, second_factor, users
from app.identity.access import authenticated, by_caller, caller
from app.identity.own_password import limit_own_password
from app.identity.schemas import OwnPassword
from app.identity.second_factor import WrongOtp

bp = Blueprint("otp", __name__, url_prefix="/profile/otp", description="Second factor of administrators")


@bp.get("")
@authenticated
@bp.response(200, schemas.OtpStatus)
def get_otp() -> dict[str, object]:
    """Return whether the second factor is active, and how many recovery codes are left. Only for administrators."""
    return second_factor.status(users.get_own(caller))


@bp.post("")
@authenticated
@secret_answer
@limit_own_password
@bp.arguments(OwnPassword)
@bp.response(201, schemas.OtpSetup)
def begin_otp(data: dict[str, str]) -> dict[str, object]:
    """Set up an authenticator app. Return its URI for a QR code, and the recovery codes, which are shown once.

    Logins require no code until a PUT confirms the setup. Only for administrators. The response is 409 if a second
    factor is active.
    """
    return second_factor.begin(own_password.get_confirmed(caller, data["password"]))


@bp.put("")
@authenticated
@limit("10 per 5 minutes", key=by_caller, counts=WrongOtp)
@bp.arguments(schemas.OtpConfirm)
@bp.response(200, MessageSchema)
def confirm_otp(data: dict[str, str]) -> dict[str, str]:
    """Confirm the setup with a code of the authenticator app. From then on, both logins require a code."""
    service.confirm_otp(caller, data["otp"])
    return {"message": "Verifikasi dua langkah aktif."}


@bp.delete("")
@authenticated
@limit_own_password
@bp.arguments(schemas.OtpEnd)
@bp.response(200, MessageSchema)
def end_otp(data: dict[str, str]) -> dict[str, str]:
    """Disable the second factor. Needs the password, and a code of the authenticator app or a recovery code."""
    second_factor.end(own_password.get_confirmed(caller, data["password"]).id, data["otp"])
    return {"message": "Verifikasi dua langkah dimatikan."}


@bp.post("/recovery-codes")
@authenticated
@secret_answer
@limit_own_password
@bp.arguments(schemas.OtpEnd)
@bp.response(201, schemas.RecoveryCodes)
def replace_recovery_codes(data: dict[str, str]) -> dict[str, list[str]]:
    """Create ten new recovery codes, shown once. The old codes stop working. A second factor must be active."""
    user = own_password.get_confirmed(caller, data["password"])
    return {"recovery_codes": second_factor.replace_recovery_codes(user, data["otp"])}
