"""What the account routes take and return."""

from __future__ import annotations

from typing import TypedDict

from marshmallow import Schema, fields, validate

from app.core.web.fields import Text
from app.core.web.parsing import Upload
from app.identity.models import SELF_SERVICE
from app.identity.schemas import NewUser, Nik, Password, PersonUpdate, PhoneNumber, Role, UserChanges, Username
from app.identity.tokens import MAX_TOKEN_LENGTH


class Credentials(TypedDict):
    username: str
    password: str


class NewAccount(NewUser, total=False):
    role: str
    role_ids: list[int]
    captcha_response: str | None


class ProfileChanges(UserChanges, total=False):
    """What people change in their own record."""

    role_ids: list[int]
    current_password: str


class PasswordReset(TypedDict):
    code: str
    new_password: str


class Login(Schema):
    username = Text(254, required=True, example="siti", metadata={"description": "E-mail, username or phone number"})
    # Only the length is bounded: an old password may be shorter than today's rule.
    password = fields.String(required=True, load_only=True, validate=validate.Length(1, 128))


class Tokens(Schema):
    access_token = fields.String(metadata={"example": "eyJhbGciOiJIUzI1NiJ9..."})
    refresh_token = fields.String(metadata={"example": "2hX4..."})


class AccessToken(Schema):
    access_token = fields.String(metadata={"example": "eyJhbGciOiJIUzI1NiJ9..."})


class SuperadminToken(AccessToken):
    message = fields.String()


class Registration(PersonUpdate):
    username = Username(required=True)
    password = Password(required=True)
    nama_ktp = Text(100, required=True, example="Siti Aminah")
    nama_samaran = Text(50, required=True, example="Melati")
    nomor_hp = PhoneNumber(required=True)
    nik = Nik()
    # Another one is refused by the service, as forbidden.
    role = fields.String(metadata={"enum": sorted(SELF_SERVICE), "example": "pasien"})
    captcha_response = fields.String(
        data_key="captcha-response", load_only=True, allow_none=True, validate=validate.Length(max=4096)
    )


class Refresh(Schema):
    # An access token, sent here by mistake, is unknown (401) and not bad input.
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


class ProfileUpdate(PersonUpdate):
    """A partial edit: what is not sent stays."""

    password = Password()
    current_password = fields.String(
        load_only=True,
        validate=validate.Length(1, 128),
        metadata={
            "format": "password",
            "description": "With a new password, e-mail or phone number; needed where PROFILE_REAUTH is required",
        },
    )
    image = Upload(allow_none=True)


class OwnRoles(Schema):
    id = fields.Integer()
    username = fields.String()
    roles = fields.List(fields.Nested(Role))
