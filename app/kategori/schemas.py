"""A content category, in and out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from marshmallow import Schema, fields, validate

from app.core.web.fields import ListOf, RecordId, Text
from app.core.web.pagination import Search, SearchSchema
from app.identity.preferences import TAGS


class KategoriCreate(Schema):
    """Also what replaces one: it has but one field."""

    nama_kategori = Text(100, required=True, example="Gizi")


class Kategori(KategoriCreate):
    id = fields.Integer(dump_only=True, metadata={"example": 1})


class PreferenceTags(ListOf):
    """Preference tags, by a parameter that may come several times."""

    def __init__(self) -> None:
        super().__init__(
            fields.String(validate=validate.OneOf(TAGS)),
            most=len(TAGS),
            metadata={
                "description": "Those in a category that is named like one of these preferences",
                "example": ["mental_health"],
            },
        )

    def _deserialize(self, value: object, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return tuple(super()._deserialize(value, attr, data, **kwargs))


@dataclass(frozen=True)
class KategoriFilter(Search):
    """Which page of a list of records that have a category, and in which categories."""

    kategori_id: int | None = None
    tag: tuple[str, ...] = ()


class KategoriFilterSchema(SearchSchema):
    search = KategoriFilter

    kategori_id = RecordId()
    tag = PreferenceTags()
