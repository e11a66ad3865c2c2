"""Request and response schemas of home page layouts."""

from __future__ import annotations

from marshmallow import EXCLUDE, Schema, ValidationError, fields, validate

from app.core.lib.provinces import PROVINCES
from app.core.web.fields import Boolean, ListOf, Loaded, Timestamp, enumeration
from app.province_config.models import DEFAULT

MAX_SECTIONS = 50


class SectionUpdate(Schema):
    """One section. The client chooses the `id`. A sent `order` is ignored, because the position in the array counts."""

    id = fields.String(
        required=True,
        validate=validate.Regexp(r"[A-Za-z0-9_.:-]{1,64}\Z", error="harus 1 sampai 64 huruf, angka, _ . : atau -."),
        metadata={"example": "video"},
    )
    enabled = Boolean(required=True, truthy={True}, falsy={False}, metadata={"example": True})


class Section(SectionUpdate):
    order = fields.Integer(metadata={"example": 0})


def _ids_are_unique(sections: list[Loaded]) -> None:
    ids = [section["id"] for section in sections]
    if len(set(ids)) != len(ids):
        raise ValidationError("tidak boleh menyebut satu id dua kali.")


class ProvinceConfigUpdate(Schema):
    """Fields of a new or replaced layout."""

    sections = ListOf(
        fields.Nested(SectionUpdate(unknown=EXCLUDE)),
        required=True,
        most=MAX_SECTIONS,
        rules=[_ids_are_unique],
    )


class ProvinceConfig(Schema):
    province = fields.String(
        metadata={**enumeration("ProvinceOrDefault", [*PROVINCES, DEFAULT]), "example": "Jawa Barat"}
    )
    sections = fields.List(fields.Nested(Section))
    updated_at = Timestamp()
