"""Request and response schemas of content categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from marshmallow import Schema, fields, validate

from app.core.web.fields import ListOf, RecordId, Text
from app.core.web.pagination import MAX_UNPAGED_LONG, Search, SearchSchema
from app.identity.preferences import TAGS


class KategoriCreate(Schema):
    """Fields of a new category, also used for updates."""

    nama_kategori = Text(100, required=True, example="Gizi")


class Kategori(KategoriCreate):
    id = fields.Integer(dump_only=True, metadata={"example": 1})


class PreferenceTags(ListOf):
    """Preference tags from a query parameter. A request may contain the parameter several times."""

    def __init__(self) -> None:
        super().__init__(
            fields.String(validate=validate.OneOf(TAGS)),
            most=len(TAGS),
            metadata={
                "description": "Only records in a category whose name matches one of these preferences",
                "example": ["mental_health"],
            },
        )

    def _deserialize(self, value: object, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return tuple(super()._deserialize(value, attr, data, **kwargs))


@dataclass(frozen=True)
class KategoriFilter(Search):
    """Page, search text and categories for a list of records that have a category."""

    kategori_id: int | None = None
    tag: tuple[str, ...] = ()


class KategoriFilterSchema(SearchSchema):
    search = KategoriFilter
    max_unpaged = MAX_UNPAGED_LONG

    kategori_id = RecordId()
    tag = PreferenceTags()
