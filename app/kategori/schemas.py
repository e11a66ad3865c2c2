"""A content category, in and out."""

from __future__ import annotations

from typing import TypedDict

from marshmallow import Schema, fields

from app.core.web.fields import Text


class NewKategori(TypedDict):
    nama_kategori: str


class KategoriCreate(Schema):
    """Also what replaces one: it has but one field."""

    nama_kategori = Text(100, required=True, example="Gizi")


class Kategori(KategoriCreate):
    id = fields.Integer(dump_only=True, metadata={"example": 1})
