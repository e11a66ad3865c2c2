"""A content category, in and out."""

from __future__ import annotations

from marshmallow import Schema, fields

from app.core.web.fields import Text


class KategoriSchema(Schema):
    id = fields.Integer(dump_only=True, metadata={"example": 1})
    nama_kategori = Text(100, required=True, example="Gizi")
