"""The layout of a home page, in and out."""

from __future__ import annotations

from typing import Any

from marshmallow import EXCLUDE, Schema, ValidationError, fields, validate

from app.core.web.fields import Timestamp

MOST_SECTIONS = 50


class SectionForm(Schema):
    """The ids are the client's registry; `order` may be sent, and is replaced by the place in the array."""

    id = fields.String(
        required=True, validate=validate.Regexp(r"[A-Za-z0-9_.:-]{1,64}\Z"), metadata={"example": "video"}
    )
    enabled = fields.Boolean(required=True, truthy={True}, falsy={False}, metadata={"example": True})


class SectionSchema(SectionForm):
    order = fields.Integer(metadata={"example": 0})


def _ids_are_unique(sections: list[dict[str, Any]]) -> None:
    ids = [section["id"] for section in sections]
    if len(set(ids)) != len(ids):
        raise ValidationError("setiap id hanya boleh sekali.")


class ConfigForm(Schema):
    sections = fields.List(
        fields.Nested(SectionForm(unknown=EXCLUDE)),
        required=True,
        validate=[validate.Length(max=MOST_SECTIONS), _ids_are_unique],
    )


class ConfigSchema(Schema):
    province = fields.String(metadata={"example": "Jawa Barat", "description": "A province, or `default`"})
    sections = fields.List(fields.Nested(SectionSchema))
    updated_at = Timestamp()
