"""Request and response schemas of health facilities.

Routes with `plain_response` use their response schemas only as documentation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from marshmallow import Schema, ValidationError, fields, post_load, validate

from app.core.web.fields import Degrees, Form, PositionSchema, Province, ProvinceName, Text
from app.core.web.pagination import Page, PageSchema, Search, SearchSchema
from app.providers.places import PLACE_ID

DEFAULT_RADIUS_M, MAX_RADIUS_M = 5_000, 50_000

#: Ids that are not allowed, because they are paths of other routes.
RESERVED = frozenset({"nearby", "location", "search"})


@dataclass(frozen=True)
class NearbyQuery:
    """A circle around a position, and the requested page of the facilities in the circle."""

    lat: float
    lng: float
    radius_m: int
    page: Page


@dataclass(frozen=True)
class FaskesFilter(Search):
    """Page, search text and province for a list of stored facilities."""

    province: str | None = None


class FaskesFilterSchema(SearchSchema):
    search = FaskesFilter

    province = Province()


class LocationSchema(PositionSchema, PageSchema):
    """Query with a position. The search uses the maximum radius, unless a subclass adds the field `radius`."""

    @post_load
    def to_page(self, data: dict[str, Any], **kwargs: object) -> NearbyQuery:
        lat, lng, radius_m = data.pop("lat"), data.pop("lng"), data.pop("radius", MAX_RADIUS_M)
        return NearbyQuery(lat, lng, radius_m, super().to_page(data, **kwargs))


class NearbySchema(LocationSchema):
    radius = fields.Integer(
        load_default=DEFAULT_RADIUS_M,
        validate=validate.Range(1, MAX_RADIUS_M),
        metadata={"description": "Metres", "example": DEFAULT_RADIUS_M},
    )


class KeywordQuery(Schema):
    keyword = Text(100, required=True, example="cibabat")


def _not_reserved(value: str) -> None:
    if value in RESERVED:
        raise ValidationError("tidak dapat dipakai.")


class FaskesUpdate(Form):
    """Fields of an update. Fields that are not sent stay unchanged."""

    nama = Text(255, minimum=1, example="RSUD Cibabat")
    alamat = Text(500, allow_none=True)
    lat = Degrees(90, example=-6.88)
    lng = Degrees(180, example=107.55)
    jenis = Text(50, allow_none=True, example="rumah_sakit")
    telepon = Text(50, allow_none=True)
    province = Province(allow_none=True)
    rating = fields.Float(allow_none=True, validate=validate.Range(0, 5))


class FaskesCreate(FaskesUpdate):
    id = fields.String(
        validate=[
            validate.Regexp(rf"(?:{PLACE_ID.pattern})\Z", error="harus 1 sampai 255 huruf, angka, _ atau -."),
            _not_reserved,
        ],
        metadata={"description": "The place identifier. Random if not sent"},
    )
    nama = Text(255, required=True, example="RSUD Cibabat")
    lat = Degrees(90, required=True, example=-6.88)
    lng = Degrees(180, required=True, example=107.55)


class Faskes(Schema):
    id = fields.String(metadata={"example": "ChIJN1t_tDeuEmsRUsoyG83frY4"})
    nama = fields.String(metadata={"example": "RSUD Cibabat"})
    alamat = fields.String(allow_none=True, metadata={"example": "Jl. Jend. H. Amir Machmud No. 140"})
    lat = fields.Float(metadata={"example": -6.88})
    lng = fields.Float(metadata={"example": 107.55})
    jenis = fields.String(allow_none=True, metadata={"example": "rumah_sakit"})
    telepon = fields.String(allow_none=True, metadata={"example": "(022) 6652025"})
    province = ProvinceName(allow_none=True)
    rating = fields.Float(allow_none=True, metadata={"example": 4.2})
    source = fields.String(validate=validate.OneOf(["db", "places"]), metadata={"example": "db"})


class NearbyFaskes(Faskes):
    distance_km = fields.Float(metadata={"example": 1.42})


class FaskesResults(Schema):
    results = fields.List(fields.Nested(Faskes))
    status = fields.String(validate=validate.OneOf(["OK", "ZERO_RESULTS"]), metadata={"example": "OK"})


class NearbyFaskesResults(FaskesResults):
    results = fields.List(fields.Nested(NearbyFaskes))
