"""Schemas of requests and responses for reminders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, NotRequired, TypedDict
from zoneinfo import available_timezones

from marshmallow import Schema, ValidationError, fields, post_load, validate, validates_schema

from app.core.errors import ValidationFailed
from app.core.web.fields import Boolean, RecordId, Text, Timestamp, enumeration
from app.core.web.openapi.variants import Variants
from app.core.web.pagination import Page, PageSchema
from app.pengingat.types.base import Details
from app.pengingat.types.obat import Amount, Obat
from app.pengingat.types.registry import TYPES

DEFAULT_ZONE = "Asia/Jakarta"
TIPE = enumeration("Tipe", TYPES)
SCHEMAS = {tipe: each.schema for tipe, each in TYPES.items()}

NO_WAKTU = "wajib diisi."


@cache
def zones() -> frozenset[str]:
    """Return the names of time zones that `ZoneInfo` accepts, without special names such as `localtime`."""
    return frozenset(available_timezones()) - {"Factory", "localtime", "posixrules"}


def _zone(value: str) -> None:
    if value not in zones():
        raise ValidationError("tidak dikenal, tulis misalnya Asia/Jakarta.")


#: Example request bodies for the API documentation, by type of reminder. `jam` is in UTC: 00:00 is 07.00 in Jakarta.
EXAMPLES = {tipe: {"tipe": tipe, "timezone": DEFAULT_ZONE, **each.example} for tipe, each in TYPES.items()}
OBAT_EXAMPLE = {"timezone": DEFAULT_ZONE, **Obat.example}
FIELDS = " ".join(f"{tipe}: {', '.join(schema.fields)}." for tipe, schema in SCHEMAS.items())
DESCRIBED: dict[str, object] = {
    "description": f"Fields by type. {FIELDS} Other fields are stored unchanged.",
    "example": Obat.example["details"],
}


def load_details(tipe: str, details: Details) -> Details:
    """Check and normalise the details of a reminder of this type. Raise `ValidationFailed` with the invalid fields."""
    try:
        return TYPES[tipe].load(details)
    except ValidationError as error:
        raise ValidationFailed({"details": error.messages}) from None


class DetailsOfTipe(fields.Dict):
    """Field for the details of a reminder. The field `tipe` of the same request selects the schema.

    If the request has no valid `tipe`, this field does not check the details. Then `load_details` must check them.
    """

    def __init__(self, tipe: str | None = None, **kwargs: Any) -> None:
        super().__init__(keys=fields.String(), **kwargs)
        self._tipe = tipe

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> Details:
        details: Details = super()._deserialize(value, attr, data, **kwargs)  # type: ignore[no-untyped-call]
        tipe = self._tipe or (data or {}).get("tipe")
        return TYPES[tipe].load(details) if tipe in list(TYPES) else details


class NewPengingat(TypedDict):
    tipe: str
    judul: str
    timezone: str
    details: Details
    waktu: NotRequired[datetime]


class PengingatChanges(TypedDict, total=False):
    tipe: str
    judul: str
    waktu: datetime
    timezone: str
    details: Details
    is_done: bool


class StockAddition(TypedDict):
    tambah: float


class _Create(Schema):
    judul = Text(200, required=True, example="Minum obat diabetes")
    timezone = fields.String(
        load_default=DEFAULT_ZONE, validate=_zone, metadata={"example": DEFAULT_ZONE, "description": "IANA name"}
    )
    details = DetailsOfTipe(required=True, metadata=DESCRIBED)


class ObatCreate(_Create):
    """Request to create one reminder for all daily doses of a medicine."""

    variants = Variants("details", {Obat.name: Obat.schema})

    details = DetailsOfTipe(Obat.name, required=True, metadata=DESCRIBED)

    @post_load
    def as_obat(self, data: Details, **_: object) -> Details:
        return {**data, "tipe": Obat.name}


class PengingatCreate(_Create):
    variants = Variants("details", SCHEMAS, by="tipe")

    tipe = fields.String(required=True, validate=validate.OneOf(TYPES))
    waktu = Timestamp(metadata={"description": "Time of the reminder. Required only if the details contain no time"})

    @validates_schema(skip_on_field_errors=False, pass_original=True)
    def check_waktu(self, data: Details, original_data: Details, **_: object) -> None:
        is_checked = "tipe" in data and "details" in data
        if is_checked and "waktu" not in original_data and not TYPES[data["tipe"]].has_times(data["details"]):
            raise ValidationError(NO_WAKTU, "waktu")


class PengingatUpdate(Schema):
    """Fields to change. Fields that are not sent stay as they are. `details` is replaced as a whole."""

    variants = Variants("details", SCHEMAS)

    tipe = fields.String(validate=validate.OneOf(TYPES), metadata=TIPE)
    judul = Text(200, minimum=1)
    waktu = Timestamp()
    timezone = fields.String(validate=_zone)
    details = DetailsOfTipe()
    is_done = Boolean(metadata={"description": "Whether the current occurrence is done"})


class StockAdditionCreate(Schema):
    """Purchase of a medicine, which is added to its stock."""

    tambah = Amount(100_000, required=True, metadata={"example": 30, "description": "Amount in the unit of the doses"})


class Pengingat(Schema):
    variants = Variants("details", SCHEMAS, by="tipe")

    id = fields.Integer(metadata={"example": 1})
    tipe = fields.String(metadata={"example": "obat"})
    judul = fields.String()
    waktu = Timestamp(
        attribute="next_due_at", metadata={"description": "Time of the reminder. For obat: time of the next dose"}
    )
    timezone = fields.String(metadata={"example": DEFAULT_ZONE})
    details = fields.Dict(attribute="shown_details")
    is_done = fields.Boolean()
    created_at = Timestamp()
    updated_at = Timestamp()


@dataclass(frozen=True)
class PatientQuery:
    """Owner of the reminders in a request: a patient, or the caller if `patient_id` is None."""

    patient_id: int | None = None


class PatientQuerySchema(Schema):
    patient_id = RecordId(
        metadata={
            "example": 12,
            "description": "Id of a patient who grants the caller `manage`, or `history` to read. Default: the caller",
        }
    )

    @post_load
    def to_patient_query(self, data: dict[str, Any], **_: object) -> PatientQuery:
        return PatientQuery(**data)


@dataclass(frozen=True)
class Query:
    """Page and filter of a list of reminders. None means all types."""

    page: Page
    tipe: str | None


class QuerySchema(PageSchema):
    tipe = fields.String(validate=validate.OneOf(TYPES), metadata=TIPE)

    @post_load
    def to_page(self, data: dict[str, Any], **kwargs: object) -> Query:
        tipe = data.pop("tipe", None)
        return Query(super().to_page(data, **kwargs), tipe)
