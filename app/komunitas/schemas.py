"""Request and response schemas of communities."""

from __future__ import annotations

from dataclasses import dataclass

from marshmallow import Schema, fields, validate

from app.core.media.pictures import Picture
from app.core.web.fields import Form, Province, ProvinceName, RecordId, Text, Timestamp
from app.core.web.parsing import Upload
from app.kategori.schemas import KategoriFilter, KategoriFilterSchema


@dataclass(frozen=True)
class KomunitasFilter(KategoriFilter):
    province: str | None = None


class KomunitasFilterSchema(KategoriFilterSchema):
    """Query of the list. `q` searches name and description."""

    search = KomunitasFilter

    province = Province()


class KomunitasUpdate(Form):
    """Fields of an update. Fields that are not sent stay unchanged."""

    nama = Text(200, minimum=1, example="Sahabat Diabetes Bandung")
    deskripsi = Text(10_000, allow_none=True, example="Bertemu setiap Minggu pagi.")
    kategori_id = RecordId(allow_none=True)
    # Users open this link, so only http and https are allowed.
    link = Text(
        2048,
        allow_none=True,
        example="https://chat.whatsapp.com/abc",
        rules=[validate.URL(schemes={"http", "https"}, error="isi dengan alamat http atau https.")],
    )
    kontak = Text(200, allow_none=True, example="0812-3456-7890 (Ibu Ani)")
    province = Province(allow_none=True)
    image = Upload(allow_none=True)


class KomunitasCreate(KomunitasUpdate):
    nama = Text(200, required=True, example="Sahabat Diabetes Bandung")


class Komunitas(Schema):
    id = fields.Integer(metadata={"example": 2})
    nama = fields.String(metadata={"example": "Sahabat Diabetes Bandung"})
    deskripsi = fields.String(allow_none=True, metadata={"example": "Bertemu setiap Minggu pagi."})
    kategori_id = fields.Integer(allow_none=True, metadata={"example": 1})
    link = fields.String(allow_none=True, metadata={"example": "https://chat.whatsapp.com/abc"})
    kontak = fields.String(allow_none=True, metadata={"example": "0812-3456-7890 (Ibu Ani)"})
    province = ProvinceName(allow_none=True)
    image = Picture()
    created_at = Timestamp()
    updated_at = Timestamp()
