"""A reminder, in and out, and its details by type: fields with a name here are checked, others stay as they came."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from typing import Any, NotRequired, TypedDict
from zoneinfo import available_timezones

from marshmallow import (
    INCLUDE,
    Schema,
    ValidationError,
    fields,
    post_dump,
    post_load,
    pre_load,
    validate,
    validates_schema,
)

from app.core.errors import ValidationFailed
from app.core.lib.clock import rfc3339
from app.core.web.fields import Day, ListOf, Text, Timestamp, enumeration
from app.core.web.openapi.variants import Variants
from app.core.web.pagination import Page, PageSchema
from app.pengingat import models
from app.pengingat.models import Tipe
from app.pengingat.plans import MEALS
from app.pengingat.schedule import OFFSETS, WEEKDAYS

DEFAULT_ZONE = "Asia/Jakarta"
TIPES = [tipe.value for tipe in Tipe]
TIPE = enumeration("Tipe", TIPES)
MAX_DETAILS_BYTES = 16 * 1024
MAX_SESSIONS = 50

PAST = "Waktunya sudah lewat, jadi tidak ada pengingat yang akan dikirim."

RULES = ("sebelum makan", "setelah makan", "saat makan")
SYNONYMS = {"sesudah makan": "setelah makan", "bersama makan": "saat makan"}


@cache
def zones() -> frozenset[str]:
    """Names that `ZoneInfo` takes and that mean a place or UTC."""
    return frozenset(available_timezones()) - {"Factory", "localtime", "posixrules"}


def _zone(value: str) -> None:
    if value not in zones():
        raise ValidationError("tidak dikenal, tulis misalnya Asia/Jakarta.")


class TimeOfDay(fields.String):
    """`HH:MM` in UTC."""

    def __init__(self, *, required: bool = False, allow_none: bool = False) -> None:
        super().__init__(
            required=required,
            allow_none=allow_none,
            validate=validate.Regexp(r"([01]\d|2[0-3]):[0-5]\d\Z", error="harus ditulis seperti 07:30, dalam UTC."),
            metadata={"example": "00:00", "description": "HH:MM in UTC"},
        )


class Details(Schema):
    class Meta:
        unknown = INCLUDE


class Dose(Details):
    jam = TimeOfDay(required=True)
    jumlah = fields.Float(
        required=True,
        validate=validate.Range(min=0, min_inclusive=False, max=100_000),
        metadata={"example": 1},
    )
    satuan = Text(50, required=True, example="tablet")


class ObatDetails(Details):
    nama_obat = Text(200, required=True, example="Metformin")
    frekuensi = fields.Integer(required=True, strict=True, validate=validate.Range(1, 3), metadata={"example": 2})
    jadwal = ListOf(fields.Nested(Dose), least=1, most=3, required=True)
    aturan = fields.String(
        required=True,
        validate=validate.OneOf([*RULES, *SYNONYMS]),
        metadata={"example": "setelah makan"},
    )
    ingatkan_ulang_menit = fields.Integer(
        strict=True,
        allow_none=True,
        validate=validate.Range(10, 60),
        metadata={"example": 30, "description": "After so many minutes without an answer one more message; else none"},
    )

    @validates_schema(skip_on_field_errors=True)
    def check_doses(self, data: models.Details, **_: object) -> None:
        times = [dose["jam"] for dose in data["jadwal"]]
        if len(times) != data["frekuensi"]:
            raise ValidationError("harus sama dengan banyaknya jadwal.", "frekuensi")
        if len(set(times)) != len(times):
            raise ValidationError("tidak boleh menyebut satu jam dua kali.", "jadwal")

    @post_load
    def normalise(self, data: models.Details, **_: object) -> models.Details:
        return {**data, "aturan": SYNONYMS.get(data["aturan"], data["aturan"])}


class Meal(Details):
    jam = TimeOfDay(allow_none=True)
    karbohidrat = Text(500, allow_none=True, example="nasi merah")
    protein = Text(500, allow_none=True, example="telur")
    lemak = Text(500, allow_none=True)
    vitamin = Text(500, allow_none=True)
    serat = Text(500, allow_none=True)


class MakanDetails(Details):
    sarapan = fields.Nested(Meal)
    makan_siang = fields.Nested(Meal)
    makan_malam = fields.Nested(Meal)
    selingan = fields.Nested(Meal)


class TherapySession(Details):
    hari = fields.String(
        required=True,
        validate=validate.OneOf(WEEKDAYS),
        metadata={"example": "senin", "description": "Weekday of the person's own date"},
    )
    jam = TimeOfDay(required=True)


class TerapiDetails(Details):
    jenis_terapi = Text(200, allow_none=True, example="Fisioterapi")
    tempat_terapi = Text(200, allow_none=True, example="RSUD Cibabat")
    jadwal = ListOf(fields.Nested(TherapySession), most=MAX_SESSIONS)

    @pre_load
    def lower_days(self, data: object, **_: object) -> object:
        if not isinstance(data, Mapping) or not isinstance(data.get("jadwal"), list):
            return data
        jadwal = [
            {**row, "hari": row["hari"].lower()}
            if isinstance(row, Mapping) and isinstance(row.get("hari"), str)
            else row
            for row in data["jadwal"]
        ]
        return {**data, "jadwal": jadwal}

    @validates_schema(skip_on_field_errors=True)
    def check_sessions(self, data: models.Details, **_: object) -> None:
        sessions = [(row["hari"], row["jam"]) for row in data.get("jadwal", [])]
        if len(set(sessions)) != len(sessions):
            raise ValidationError("tidak boleh menyebut satu waktu dua kali.", "jadwal")


class ReminderOffset(Details):
    offset = fields.String(required=True, validate=validate.OneOf(list(OFFSETS)), metadata={"example": "1h"})


class KontrolDetails(Details):
    nama_dokter = Text(200, allow_none=True, example="dr. Ani")
    spesialisasi = Text(200, allow_none=True)
    jenis_faskes = Text(200, allow_none=True)
    nama_faskes = Text(200, allow_none=True)
    datetime = Timestamp(allow_none=True)
    frekuensi_kontrol = Text(100, allow_none=True, example="1 bulan")
    reminder_offsets = ListOf(fields.Nested(ReminderOffset), most=10)

    @pre_load
    def read_aliases(self, data: object, **_: object) -> object:
        if not isinstance(data, Mapping):
            return data
        details = dict(data)
        for alias in ("offsets", "reminders"):
            if alias in details:
                offsets = details.pop(alias)
                details.setdefault("reminder_offsets", offsets)
        if details.get("reminder_offsets", ()) is None:
            del details["reminder_offsets"]
        return details

    @post_load
    def normalise(self, data: models.Details, **_: object) -> models.Details:
        if data.get("datetime") is not None:
            data = {**data, "datetime": rfc3339(data["datetime"])}
        offsets = data.get("reminder_offsets", [])
        unique = {row["offset"]: row for row in offsets}
        return {**data, "reminder_offsets": list(unique.values())} if offsets else data


DETAILS: dict[str, Schema] = {
    Tipe.OBAT: ObatDetails(),
    Tipe.MAKAN: MakanDetails(),
    Tipe.TERAPI: TerapiDetails(),
    Tipe.KONTROL: KontrolDetails(),
}
assert set(MEALS) <= set(MakanDetails().fields)  # noqa: S101  # one list of meals, two places


def load_details(tipe: str, details: models.Details) -> models.Details:
    """Checked and normalised details of one type; `ValidationFailed` names the wrong ones."""
    if len(json.dumps(details)) > MAX_DETAILS_BYTES:
        raise ValidationFailed({"details": ["terlalu besar."]})
    try:
        loaded: models.Details = DETAILS[tipe].load(details)
    except ValidationError as error:
        raise ValidationFailed({"details": error.messages}) from None
    return loaded


#: What the documentation shows; the fields of the other types are in their schemas above.
EXAMPLE = {
    "nama_obat": "Metformin",
    "frekuensi": 1,
    "aturan": "setelah makan",
    "jadwal": [{"jam": "00:00", "jumlah": 1, "satuan": "tablet"}],
}
MEANING = (
    "By type. obat: nama_obat, frekuensi, jadwal, aturan. makan: sarapan, makan_siang, makan_malam, selingan, each "
    "with jam and nutrients. terapi: jenis_terapi, tempat_terapi, jadwal of hari and jam. kontrol: nama_dokter, "
    "spesialisasi, jenis_faskes, nama_faskes, datetime, frekuensi_kontrol, reminder_offsets. Other fields are kept."
)


class NewPengingat(TypedDict):
    tipe: str
    judul: str
    timezone: str
    details: models.Details
    waktu: NotRequired[datetime]


class PengingatChanges(TypedDict, total=False):
    tipe: str
    judul: str
    waktu: datetime
    timezone: str
    details: models.Details
    is_done: bool


class _Create(Schema):
    judul = Text(200, required=True, example="Minum obat diabetes")
    timezone = fields.String(
        load_default=DEFAULT_ZONE, validate=_zone, metadata={"example": DEFAULT_ZONE, "description": "IANA name"}
    )
    details = fields.Dict(keys=fields.String(), required=True, metadata={"description": MEANING, "example": EXAMPLE})


class ObatCreate(_Create):
    """A medicine: one reminder that holds every daily dose."""

    variants = Variants("details", {Tipe.OBAT: DETAILS[Tipe.OBAT]})

    @post_load
    def as_obat(self, data: models.Details, **_: object) -> models.Details:
        return {**data, "tipe": Tipe.OBAT}


class PengingatCreate(_Create):
    variants = Variants("details", DETAILS, by="tipe")

    tipe = fields.String(required=True, validate=validate.OneOf(TIPES))
    waktu = Timestamp(
        metadata={
            "description": "Needed only where the details do not say when: makan without a jam, terapi without a "
            "jadwal, kontrol without a datetime"
        }
    )


class PengingatUpdate(Schema):
    """What is sent changes, the rest stays; `details` is replaced whole."""

    variants = Variants("details", DETAILS)

    tipe = fields.String(validate=validate.OneOf(TIPES), metadata=TIPE)
    judul = Text(200, minimum=1)
    waktu = Timestamp()
    timezone = fields.String(validate=_zone)
    details = fields.Dict(keys=fields.String())
    is_done = fields.Boolean(metadata={"description": "Of the current occurrence"})


class Pengingat(Schema):
    variants = Variants("details", DETAILS, by="tipe")

    id = fields.Integer(metadata={"example": 1})
    tipe = fields.String(metadata={"example": "obat"})
    judul = fields.String()
    waktu = Timestamp(metadata={"description": "Of obat: the next dose"})
    next_at = Timestamp(
        allow_none=True, metadata={"description": "The next occurrence still to come and not done; null: there is none"}
    )
    timezone = fields.String(metadata={"example": DEFAULT_ZONE})
    details = fields.Dict()
    is_done = fields.Boolean()
    created_at = Timestamp()
    updated_at = Timestamp()


class PengingatCreated(Pengingat):
    """A new reminder, and beside it what the person should know of it."""

    warning = fields.Function(
        lambda pengingat: PAST if pengingat.is_past else None,
        metadata={
            "type": "string",
            "x-optional": True,
            "description": "There when its moment is past: nothing will be sent",
        },
    )

    @post_dump
    def leave_out_no_warning(self, data: dict[str, Any], **_: object) -> dict[str, Any]:
        return data if data["warning"] else {name: value for name, value in data.items() if name != "warning"}


@dataclass(frozen=True)
class Query:
    """Which page of the caller's reminders, and which of them; None: all."""

    page: Page
    tipe: str | None
    is_done: bool | None
    date: date | None


class QuerySchema(PageSchema):
    tipe = fields.String(validate=validate.OneOf(TIPES), metadata=TIPE)
    is_done = fields.Boolean(metadata={"description": "Whether the current occurrence is done"})
    date = Day(metadata={"description": "With an occurrence on this day of their own zone", "example": "2026-03-02"})

    @post_load
    def to_page(self, data: dict[str, Any], **kwargs: object) -> Query:
        narrowing = {name: data.pop(name, None) for name in ("tipe", "is_done", "date")}
        return Query(super().to_page(data, **kwargs), **narrowing)
