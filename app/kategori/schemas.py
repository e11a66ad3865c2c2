"""Request and response schemas of content categories."""

from __future__ import annotations

from dataclasses import dataclass

from marshmallow import Schema, fields

from app.core.web.fields import RecordId, Text
from app.core.web.pagination import MAX_UNPAGED_LONG, Search, SearchSchema


class KategoriCreate(Schema):
    """Fields of a new category, also used for updates."""

    nama_kategori = Text(100, required=True, example="Gizi")


class Kategori(KategoriCreate):
    id = fields.Integer(dump_only=True, metadata={"example": 1})


@dataclass(frozen=True)
class KategoriFilter(Search):
    """Page, search text and category for a list of records that have a category."""

    kategori_id: int | None = None


class KategoriFilterSchema(SearchSchema):
    search = KategoriFilter
    max_unpaged = MAX_UNPAGED_LONG

    kategori_id = RecordId()
