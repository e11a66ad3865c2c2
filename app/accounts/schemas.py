"""Request and response schemas of the account routes."""

from __future__ import annotations

from typing import Any

from marshmallow import EXCLUDE, Schema, fields, validate

from app.core.web.fields import Characters, Text, Timestamp, enumeration
from app.core.web.parsing import Upload
from app.identity import schemas as identity_schemas
from app.identity.models import SELF_SERVICE
from app.identity.schemas import Consents, Name, Nik, OwnPassword, Password, PersonUpdate, PhoneNumber, Role, UserCreate
from app.identity.tokens import MAX_TOKEN_LENGTH


class Otp(Text):
    """Six digits of an authenticator app, or a recovery code."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(40, load_only=True, example="492039", **kwargs)


class Login(Schema):
    username = Text(254, required=True, example="siti", metadata={"description": "E-mail, username or phone number"})
    # Only the length is checked, because an old password may not satisfy the current rules.
    password = fields.String(required=True, load_only=True, validate=Characters(1, 128))
    otp = Otp(
        metadata={
            "description": "Six digits of the authenticator app or a recovery code; required with a second factor"
        }
    )


class AccessToken(Schema):
    access_token = fields.String(metadata={"example": "eyJhbGciOiJIUzI1NiJ9..."})


class Tokens(AccessToken):
    refresh_token = fields.String(metadata={"example": "2hX4..."})


class LoginTokens(Tokens):
    message = fields.String(
        metadata={"x-optional": True, "description": "Present only if this login cancelled the account's deletion"}
    )


class SuperadminToken(AccessToken):
    message = fields.String()


class Registration(UserCreate):
    nama_samaran = Name(50, required=True, example="Melati")
    nomor_hp = PhoneNumber(required=True)
    # The role is not validated here, because the service answers a wrong role with 403.
    role = fields.String(metadata={"enum": sorted(SELF_SERVICE), "example": "pasien"})
    consents = fields.Nested(
        Consents(unknown=EXCLUDE),
        metadata={"description": "Without it the person was not asked, and each purpose counts as granted"},
    )
    captcha_response = fields.String(
        data_key="captcha-response",
        load_only=True,
        allow_none=True,
        validate=validate.Length(max=4096),
        metadata={
            "description": "Response of the human verification widget. Required if `captcha_site_key` of "
            "`GET /features` is not null"
        },
    )


class Refresh(Schema):
    # Access tokens also satisfy this limit. A caller who sends an access token by mistake gets 401 instead of 400.
    refresh_token = Text(MAX_TOKEN_LENGTH, required=True)


class UsernameCheck(Schema):
    username = Text(254, required=True, example="siti")


class Availability(Schema):
    available = fields.Boolean()
    message = fields.String()


class PhoneQuery(Schema):
    phone = PhoneNumber(required=True)


class NewPassword(Schema):
    code = Text(512, required=True)
    new_password = Password(required=True)


class CurrentPassword(fields.String):
    def __init__(self) -> None:
        super().__init__(
            load_only=True,
            validate=Characters(1, 128),
            metadata={
                "format": "password",
                "description": "Required for a new password, e-mail or number if PROFILE_REAUTH is required",
            },
        )


class Profile(identity_schemas.User):
    """The caller's own record."""

    phone_verified_at = Timestamp(
        allow_none=True, metadata={"example": None, "description": "null if the number is not verified"}
    )
    phone_problem = fields.String(
        allow_none=True,
        metadata={
            **enumeration("PhoneProblem", ("wrong_number", "unreachable")),
            "example": None,
            "description": "Why messages do not reach the number. wrong_number: the number answered SALAH NOMOR; "
            "a new verification clears this. unreachable: the messaging provider rejects the number",
        },
    )


class VerificationCreate(Schema):
    nomor_hp = PhoneNumber()
    current_password = CurrentPassword()


class Verification(Schema):
    """The code that the user sends to us, and a link that opens a chat with us."""

    code = fields.String(metadata={"example": "K7MP4W"})
    link = fields.String(
        allow_none=True,
        metadata={
            "format": "uri",
            "example": "https://wa.me/628110000000?text=VERIFIKASI%20K7MP4W",
            "description": "null if the service has no messaging number",
        },
    )
    expires_at = Timestamp()


class PhoneRelease(Schema):
    current_password = CurrentPassword()


class ProfileUpdate(PersonUpdate):
    """A partial update of the profile. Fields that are missing or equal to the current profile stay unchanged."""

    # Forms send the whole profile back. An old profile may contain null or a NIK of an old format, so these three
    # fields accept such values. The service rejects such a value if it differs from the current profile.
    nama_samaran = Name(50, example="Melati", allow_none=True)
    nomor_hp = PhoneNumber(allow_none=True)
    nik = Nik(legacy=True)
    password = Password()
    current_password = CurrentPassword()
    image = Upload(allow_none=True, repeats=True)


class OwnRoles(Schema):
    id = fields.Integer()
    username = fields.String()
    roles = fields.List(fields.Nested(Role))


class OtpStatus(Schema):
    active = fields.Boolean(metadata={"description": "Whether both logins require a code"})
    recovery_codes_left = fields.Integer(metadata={"example": 10})


class RecoveryCodes(Schema):
    """Recovery codes, shown only once because the database stores only hashes."""

    recovery_codes = fields.List(fields.String(), metadata={"example": ["K7WD-9XME-2HFA-Q3TZ"]})


class OtpSetup(RecoveryCodes):
    uri = fields.String(metadata={"example": "otpauth://totp/Health-support:admin?secret=JBSWY3DPEHPK3PXP"})


class OtpConfirm(Schema):
    otp = Otp(required=True)


class OtpEnd(OwnPassword, OtpConfirm):
    """The password and a code, so that a stolen session cannot disable the second factor."""
