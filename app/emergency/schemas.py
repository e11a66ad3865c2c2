"""Request and response schemas of emergency numbers."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from app.core.web.fields import Form, Province, ProvinceName, Text, enumeration
from app.emergency.models import NumberKind

KIND = {**enumeration("EmergencyNumberKind", NumberKind), "example": NumberKind.AMBULANCE}


class EmergencyNumberCreate(Form):
    """Fields of a new or replaced number. In a PUT, a missing `url` or `kind` stays unchanged."""

    province = Province(required=True)
    phone = Text(30, required=True, example="119", rules=[validate.Regexp(r".*\d", error="harus mengandung angka.")])
    title = Text(100, load_default=None, allow_none=True, example="Ambulans")
    url = Text(
        2048,
        allow_none=True,
        example="https://www.healing119.id",
        rules=[validate.URL(schemes={"http", "https"}, error="isi dengan alamat http atau https.")],
    )
    kind = fields.String(
        validate=validate.OneOf(list(NumberKind)), metadata={**KIND, "description": "`other` if not sent"}
    )


class EmergencyNumber(Schema):
    id = fields.Integer(metadata={"example": 1})
    province = ProvinceName()
    phone = fields.String(metadata={"example": "119"})
    title = fields.String(allow_none=True, metadata={"example": "Ambulans"})
    url = fields.String(
        allow_none=True,
        metadata={"example": "https://www.healing119.id", "description": "Web page of the same service"},
    )
    kind = fields.String(metadata=KIND)


class NearbyNumbers(Schema):
    province = ProvinceName(allow_none=True)  # null outside Indonesia
    phones = fields.List(fields.Nested(EmergencyNumber))
