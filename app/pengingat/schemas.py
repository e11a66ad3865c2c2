"""Schemas of requests and responses for reminders."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, NotRequired, TypedDict
from zoneinfo import available_timezones

from marshmallow import Schema, ValidationError, fields, post_load, validate, validates_schema

from app.core.web.fields import RecordId, Text, Timestamp, enumeration
from app.core.web.openapi.variants import Variants
from app.core.web.pagination import Page, PageSchema
from app.pengingat.details_schemas import DETAILS, Amount, DetailsOfTipe
from app.pengingat.timetable.plans import has_times
from app.pengingat.timetable.tipe import Details as JsonDetails
from app.pengingat.timetable.tipe import Tipe

DEFAULT_ZONE = "Asia/Jakarta"
TIPES = [tipe.value for tipe in Tipe]
TIPE = enumeration("Tipe", TIPES)

NO_WAKTU = "wajib diisi."


@cache
def zones() -> frozenset[str]:
    """Return the names of time zones that `ZoneInfo` accepts, without special names such as `localtime`."""
    return frozenset(available_timezones()) - {"Factory", "localtime", "posixrules"}


def _zone(value: str) -> None:
    if value not in zones():
        raise ValidationError("tidak dikenal, tulis misalnya Asia/Jakarta.")


#: Example of `details` for a medicine, in the API documentation. `details_schemas` has the fields of all types.
EXAMPLE = {
    "nama_obat": "Metformin",
    "frekuensi": 1,
    "aturan": "setelah makan",
    "jadwal": [{"jam": "00:00", "jumlah": 1, "satuan": "tablet"}],
}
#: Example request bodies for the API documentation, by type of reminder. `jam` is in UTC: 00:00 is 07.00 in Jakarta.
EXAMPLES = {
    Tipe.OBAT: {
        "tipe": "obat",
        "judul": "Obat diabetes",
        "timezone": "Asia/Jakarta",
        "details": {
            "nama_obat": "Metformin",
            "frekuensi": 2,
            "aturan": "setelah makan",
            "jadwal": [
                {"jam": "00:00", "jumlah": 1, "satuan": "tablet"},
                {"jam": "12:00", "jumlah": 1, "satuan": "tablet"},
            ],
            "persediaan": {"sisa": 60, "ingatkan_hari": 7},
        },
    },
    Tipe.MAKAN: {
        "tipe": "makan",
        "judul": "Makan teratur",
        "timezone": "Asia/Jakarta",
        "details": {
            "sarapan": {"jam": "23:30", "karbohidrat": "nasi merah", "protein": "telur", "serat": "pepaya"},
            "makan_malam": {"jam": "11:30"},
        },
    },
    Tipe.TERAPI: {
        "tipe": "terapi",
        "judul": "Fisioterapi",
        "timezone": "Asia/Jakarta",
        "details": {
            "jenis_terapi": "Fisioterapi",
            "tempat_terapi": "RSUD Cibabat",
            "jadwal": [{"hari": "senin", "jam": "02:00"}, {"hari": "kamis", "jam": "02:00"}],
        },
    },
    Tipe.KONTROL: {
        "tipe": "kontrol",
        "judul": "Kontrol ke dokter",
        "timezone": "Asia/Jakarta",
        "details": {
            "nama_dokter": "dr. Ani",
            "nama_faskes": "RSUD Cibabat",
            "datetime": "2040-03-02T02:00:00Z",
            "reminder_offsets": [{"offset": "1d"}, {"offset": "1h"}],
        },
    },
}
OBAT_EXAMPLE = {name: value for name, value in EXAMPLES[Tipe.OBAT].items() if name != "tipe"}
MEANING = (
    "Fields by type. obat: nama_obat, frekuensi, jadwal, aturan, and optionally mulai, selesai, "
    "jadwal_sementara, persediaan. makan: sarapan, makan_siang, makan_malam, selingan, each with jam and nutrients. "
    "terapi: jenis_terapi, tempat_terapi, jadwal with hari and jam. kontrol: nama_dokter, spesialisasi, jenis_faskes, "
    "nama_faskes, datetime, frekuensi_kontrol, reminder_offsets. Other fields are stored unchanged."
)


DESCRIBED: dict[str, object] = {"description": MEANING, "example": EXAMPLE}


class NewPengingat(TypedDict):
    tipe: str
    judul: str
    timezone: str
    details: JsonDetails
    waktu: NotRequired[datetime]


class PengingatChanges(TypedDict, total=False):
    tipe: str
    judul: str
    waktu: datetime
    timezone: str
    details: JsonDetails
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

    variants = Variants("details", {Tipe.OBAT: DETAILS[Tipe.OBAT]})

    details = DetailsOfTipe(Tipe.OBAT, required=True, metadata=DESCRIBED)

    @post_load
    def as_obat(self, data: JsonDetails, **_: object) -> JsonDetails:
        return {**data, "tipe": Tipe.OBAT}


class PengingatCreate(_Create):
    variants = Variants("details", DETAILS, by="tipe")

    tipe = fields.String(required=True, validate=validate.OneOf(TIPES))
    waktu = Timestamp(
        metadata={
            "description": "Time of the reminder. Required only if the details have no time: makan without a jam, "
            "terapi without a jadwal, kontrol without a datetime"
        }
    )

    @validates_schema(skip_on_field_errors=False, pass_original=True)
    def check_waktu(self, data: JsonDetails, original_data: JsonDetails, **_: object) -> None:
        is_checked = "tipe" in data and "details" in data
        if is_checked and "waktu" not in original_data and not has_times(data["tipe"], data["details"]):
            raise ValidationError(NO_WAKTU, "waktu")


class PengingatUpdate(Schema):
    """Fields to change. Fields that are not sent stay as they are. `details` is replaced as a whole."""

    variants = Variants("details", DETAILS)

    tipe = fields.String(validate=validate.OneOf(TIPES), metadata=TIPE)
    judul = Text(200, minimum=1)
    waktu = Timestamp()
    timezone = fields.String(validate=_zone)
    details = DetailsOfTipe()
    is_done = fields.Boolean(metadata={"description": "Whether the current occurrence is done"})


class StockAdditionCreate(Schema):
    """Purchase of a medicine, which is added to its stock."""

    tambah = Amount(required=True, maximum=100_000, example=30, description="Amount in the unit of the doses")


class Pengingat(Schema):
    variants = Variants("details", DETAILS, by="tipe")

    id = fields.Integer(metadata={"example": 1})
    tipe = fields.String(metadata={"example": "obat"})
    judul = fields.String()
    waktu = Timestamp(
        attribute="next_due_at", metadata={"description": "Time of the reminder. For obat: time of the next dose"}
    )
    timezone = fields.String(metadata={"example": DEFAULT_ZONE})
    details = fields.Dict()
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
    tipe = fields.String(validate=validate.OneOf(TIPES), metadata=TIPE)

    @post_load
    def to_page(self, data: dict[str, Any], **kwargs: object) -> Query:
        tipe = data.pop("tipe", None)
        return Query(super().to_page(data, **kwargs), tipe)
