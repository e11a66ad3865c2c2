"""An emergency number, in and out."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from app.core.web.fields import Form, Province, Text


class NumberSchema(Form):
    id = fields.Integer(dump_only=True, metadata={"example": 1})
    province = Province(required=True)
    phone = Text(30, required=True, example="119", rules=[validate.Regexp(r".*\d", error="harus mengandung angka.")])
    title = Text(100, load_default=None, allow_none=True, example="Ambulans")


class NearbyNumbersSchema(Schema):
    province = fields.String(
        allow_none=True, metadata={"example": "Jawa Barat", "description": "null outside Indonesia"}
    )
    phones = fields.List(fields.Nested(NumberSchema))
