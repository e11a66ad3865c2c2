"""Request and response schemas of doctors."""

from __future__ import annotations

from dataclasses import dataclass

from marshmallow import Schema, fields

from app.core.media.pictures import Picture
from app.core.web.fields import Characters, Form, ListOf, Province, Text
from app.core.web.pagination import Search, SearchSchema
from app.core.web.parsing import Upload

MAX_FASKES = 100


@dataclass(frozen=True)
class DokterFilter(Search):
    """Page, search text and province of practice for a list of doctors."""

    province: str | None = None


class DokterFilterSchema(SearchSchema):
    search = DokterFilter

    province = Province(
        metadata={"example": "Jawa Barat", "description": "Only doctors with a facility in this province"}
    )


class DokterUpdate(Form):
    """Fields of an update. Fields that are not sent stay unchanged. A null or blank `image` removes the picture."""

    nama = Text(150, minimum=1, example="dr. Ani")
    spesialisasi = Text(100, allow_none=True, example="Penyakit Dalam")
    telepon = Text(50, allow_none=True)
    faskes_ids = ListOf(fields.String(validate=Characters(1, 255)), most=MAX_FASKES)
    image = Upload(allow_none=True)


class DokterCreate(DokterUpdate):
    nama = Text(150, required=True, example="dr. Ani")


class DokterPractice(Schema):
    id = fields.String(metadata={"example": "ChIJN1t_tDeuEmsRUsoyG83frY4"})
    nama = fields.String(metadata={"example": "RSUD Cibabat"})


class Dokter(Schema):
    id = fields.Integer(metadata={"example": 4})
    nama = fields.String(metadata={"example": "dr. Ani"})
    spesialisasi = fields.String(allow_none=True, metadata={"example": "Penyakit Dalam"})
    telepon = fields.String(allow_none=True)
    image = Picture()
    faskes_ids = fields.List(fields.String(), metadata={"example": ["ChIJN1t_tDeuEmsRUsoyG83frY4"]})
    faskes = fields.List(fields.Nested(DokterPractice))


class NearbyDokter(Dokter):
    distance_km = fields.Function(
        lambda dokter: round(dokter.distance_km, 3),
        metadata={"type": "number", "example": 2.31, "description": "Distance to the doctor's nearest facility"},
    )
