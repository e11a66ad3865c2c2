"""Schemas of people, roles and consents, and the fields that all forms about a person share."""

from __future__ import annotations

import json
import logging
import re
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate

from app.core.media.pictures import Picture
from app.core.web.fields import Boolean, Characters, Form, ListOf, Province, ProvinceName, RecordId, Text, Timestamp
from app.core.web.parsing import JsonText
from app.identity import field_encryption, models, phones, usernames

logger = logging.getLogger(__name__)

MAX_PREFERENCES_BYTES = 8 * 1024

#: Control characters, line breaks, and characters that change the direction of text.
UNREADABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


PREFERENCES: dict[str, object] = {
    "anyOf": [
        {"type": "object", "additionalProperties": {}},
        {"type": "array", "items": {}},
        {"type": "string"},
        {"type": "null"},
    ],
    "description": "Stored as sent. Broadcasts are filtered by its tags, for example `medical` or `islam`",
    "example": {"medical": True, "religion": ["islam"]},
}


def _check_username(value: str) -> None:
    if problem := usernames.problem(value):
        raise ValidationError(problem)


def _check_name(value: str) -> None:
    if UNREADABLE.search(value):
        raise ValidationError("harus terbaca, tanpa baris baru dan karakter tersembunyi.")


def _check_phone(value: str) -> None:
    if len(value) > 30 or phones.normalise(value) is None:
        raise ValidationError("tidak benar, tulis misalnya 081234567890.")


class Role(Schema):
    id = fields.Integer(dump_only=True, metadata={"example": 4})
    name = fields.String(metadata={"example": "pasien"})
    is_editable = fields.Boolean()


class UserRoles(Schema):
    id = fields.Integer(metadata={"example": 12})
    role_ids = fields.List(fields.Integer())
    roles = fields.List(fields.Nested(Role))


class Person(Schema):
    """A person as other people see them in lists, without contacts, NIK (national id) and preferences."""

    id = fields.Integer(metadata={"example": 12})
    username = fields.String(metadata={"example": "siti"})
    nama_ktp = fields.String(metadata={"example": "Siti Aminah"})
    image = Picture()
    domicile = ProvinceName(allow_none=True)


class Withheld(fields.String):
    """A text field that is always null in the response."""

    def __init__(self, *, metadata: dict[str, object]) -> None:
        super().__init__(dump_only=True, metadata={"type": "null", **metadata})

    def _serialize(self, value: object, attr: str | None, obj: object, **_: object) -> None:
        return None


class Account(Person):
    """A person as administrators see them in lists, without NIK, preferences and pseudonym."""

    email = fields.String(allow_none=True, metadata={"example": "siti@example.com"})
    nama_samaran: fields.String = Withheld(metadata={"example": None, "description": "Always null in lists"})
    nomor_hp = fields.String(allow_none=True, metadata={"example": "081234567890"})
    role = fields.String(allow_none=True, metadata={"example": "pasien"})
    roles = fields.List(fields.Nested(Role))
    role_ids = fields.List(fields.Integer())
    is_verified = fields.Boolean()
    created_at = Timestamp()
    updated_at = Timestamp()


def shown_nik(user: models.User) -> str | None:
    """Return a person's NIK in plain text. Return None if the NIK is missing or cannot be decrypted."""
    try:
        return field_encryption.decrypt(user.nik, user.id)
    except field_encryption.UndecryptableField:
        # If a key is lost, the rest of the record must stay readable. `flask nik verify` lists the affected people.
        logger.exception("a NIK cannot be decrypted", extra={"user_id": user.id})
        return None


class User(Account):
    """All data of a person. The person sees them, and so does an administrator who opens the person's record."""

    nama_samaran = fields.String(allow_none=True, metadata={"example": "Melati"})
    nik = fields.Method("decrypted_nik", metadata={"type": ["string", "null"], "example": None})
    preferences = fields.Raw(allow_none=True, metadata=PREFERENCES)

    def decrypted_nik(self, user: models.User) -> str | None:
        return shown_nik(user)


class Username(fields.String):
    def __init__(self, *, required: bool = False, allow_none: bool = False) -> None:
        super().__init__(
            required=required,
            allow_none=allow_none,
            validate=_check_username,
            metadata={"example": "siti", "description": "3 to 50 letters, digits, dots or underscores"},
        )


class Name(Text):
    """A person's name. It is one line, without characters that change the direction of text."""

    def __init__(self, maximum: int, **kwargs: Any) -> None:
        super().__init__(maximum, minimum=1, rules=[_check_name], **kwargs)


class Password(fields.String):
    """A password of 6 to 128 characters. Blanks count. Production rejects passwords that are easy to guess."""

    def __init__(self, *, required: bool = False) -> None:
        super().__init__(
            required=required,
            load_only=True,
            validate=validate.Length(6, 128, error="harus 6 sampai 128 karakter."),
            metadata={
                "format": "password",
                "example": "kucing-hitam-7",
                "description": "In production no common password, no repetition, not the username or the phone number",
            },
        )


class PhoneNumber(fields.String):
    """A phone number in any usual notation. A number without a country code is Indonesian."""

    def __init__(self, *, required: bool = False, allow_none: bool = False) -> None:
        super().__init__(
            required=required,
            allow_none=allow_none,
            validate=_check_phone,
            metadata={
                "example": "081234567890",
                "description": "In any usual form. Without a country code it is Indonesian",
            },
        )

    def _deserialize(self, value: object, *args: object, **kwargs: object) -> str:
        return phones.visible(super()._deserialize(value, *args, **kwargs))


class Nik(fields.String):
    """A NIK of 16 digits.

    With `legacy`, any text of at most 255 characters is valid, because a client may send back a NIK of an old format.
    """

    def __init__(self, *, legacy: bool = False) -> None:
        super().__init__(
            validate=validate.Length(max=255)
            if legacy
            else validate.Regexp(rf"{field_encryption.FORM}\Z", error=field_encryption.WRONG_FORM),
            allow_none=True,
            metadata={"deprecated": True, "example": "3273014502900001"},
        )


class Preferences(JsonText):
    """Preferences as an object, an array or a JSON string, at most 8 KB of UTF-8. They are stored unchanged."""

    default_error_messages = {"invalid": "isi dengan objek, daftar, atau teks JSON, maksimal 8 KB."}  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__(allow_none=True, metadata=PREFERENCES)

    def _deserialize(self, value: object, *_: object, **__: object) -> object:
        if (
            not isinstance(value, (dict, list, str))
            or len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()) > MAX_PREFERENCES_BYTES
        ):
            raise self.make_error("invalid")
        return value


class PersonUpdate(Form):
    """Optional fields that a person can change. Subclasses override the fields that they require."""

    email = fields.Email(allow_none=True, validate=validate.Length(max=254), metadata={"example": "siti@example.com"})
    nama_ktp = Name(100, example="Siti Aminah")
    nama_samaran = Name(50, example="Melati")
    nomor_hp = PhoneNumber()
    nik = Nik()
    domicile = Province(allow_none=True)
    preferences = Preferences()
    role_ids = ListOf(RecordId(), most=50, metadata={"example": [4]})


class UserCreate(PersonUpdate):
    """A new person, from the operator's command or from registration."""

    username = Username(required=True)
    password = Password(required=True)
    nama_ktp = Name(100, required=True, example="Siti Aminah")


class OwnPassword(Schema):
    """The caller's password. It is required because the session may be stolen."""

    password = fields.String(
        required=True, load_only=True, validate=Characters(1, 128), metadata={"format": "password"}
    )


class Consents(Schema):
    """Consents of a person by purpose. If the request omits a purpose, its consent stays unchanged."""

    health_data = Boolean(metadata={"description": "Reminders and the answers to them"})
    broadcasts = Boolean(metadata={"description": "News by message"})
