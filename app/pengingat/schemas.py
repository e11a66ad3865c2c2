"""Reminders in and out; their details by type. Named fields are checked, others kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any
from zoneinfo import available_timezones

from marshmallow import INCLUDE, Schema, ValidationError, fields, post_load, pre_load, validate, validates_schema

from app.core.errors import ValidationFailed
from app.core.lib.clock import rfc3339
from app.core.web.fields import Text, Timestamp
from app.pengingat.models import Tipe
from app.pengingat.plans import MEALS
from app.pengingat.schedule import OFFSETS, WEEKDAYS

DEFAULT_ZONE = "Asia/Jakarta"
MAX_DETAILS_BYTES = 16 * 1024
MAX_SESSIONS = 50

RULES = ("sebelum makan", "setelah makan", "saat makan")
SYNONYMS = {"sesudah makan": "setelah makan", "bersama makan": "saat makan"}


@cache
def zones() -> frozenset[str]:
    """Names that `ZoneInfo` takes and that mean a place or UTC."""
    return frozenset(available_timezones()) - {"Factory", "localtime", "posixrules"}


def _zone(value: str) -> None:
    if value not in zones():
        raise ValidationError("bukan zona waktu IANA.")


class TimeOfDay(fields.String):
    """`HH:MM` in UTC."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("metadata", {"example": "00:00", "description": "HH:MM in UTC"})
        rule = validate.Regexp(r"([01]\d|2[0-3]):[0-5]\d\Z", error="harus berupa HH:MM dalam UTC.")
        super().__init__(validate=rule, **kwargs)


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
    jadwal = fields.List(fields.Nested(Dose), required=True, validate=validate.Length(1, 3))
    aturan = fields.String(
        required=True,
        validate=validate.OneOf([*RULES, *SYNONYMS]),
        metadata={"example": "setelah makan"},
    )

    @validates_schema(skip_on_field_errors=True)
    def check_doses(self, data: dict[str, Any], **_: Any) -> None:
        times = [dose["jam"] for dose in data["jadwal"]]
        if len(times) != data["frekuensi"]:
            raise ValidationError("harus sama dengan banyaknya jadwal.", "frekuensi")
        if len(set(times)) != len(times):
            raise ValidationError("tidak boleh menyebut satu jam dua kali.", "jadwal")

    @post_load
    def normalise(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
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
    jadwal = fields.List(fields.Nested(TherapySession), validate=validate.Length(max=MAX_SESSIONS))

    @pre_load
    def lower_days(self, data: Any, **_: Any) -> Any:
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
    def check_sessions(self, data: dict[str, Any], **_: Any) -> None:
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
    reminder_offsets = fields.List(fields.Nested(ReminderOffset), validate=validate.Length(max=10))

    @pre_load
    def read_aliases(self, data: Any, **_: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        found = dict(data)
        for alias in ("offsets", "reminders"):
            if alias in found:
                value = found.pop(alias)
                found.setdefault("reminder_offsets", value)
        if found.get("reminder_offsets", ()) is None:
            del found["reminder_offsets"]
        return found

    @post_load
    def normalise(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
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


def load_details(tipe: str, details: dict[str, Any]) -> dict[str, Any]:
    """Checked and normalised details of one type; `ValidationFailed` names the wrong ones."""
    if len(json.dumps(details)) > MAX_DETAILS_BYTES:
        raise ValidationFailed({"details": ["terlalu besar."]})
    try:
        loaded: dict[str, Any] = DETAILS[tipe].load(details)
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


class ObatCreate(Schema):
    """A medicine: one reminder that holds every daily dose."""

    judul = Text(200, required=True, example="Minum obat diabetes")
    timezone = fields.String(
        load_default=DEFAULT_ZONE, validate=_zone, metadata={"example": DEFAULT_ZONE, "description": "IANA name"}
    )
    details = fields.Dict(keys=fields.String(), required=True, metadata={"description": MEANING, "example": EXAMPLE})


class PengingatCreate(ObatCreate):
    tipe = fields.String(required=True, validate=validate.OneOf([tipe.value for tipe in Tipe]))
    waktu = Timestamp(metadata={"description": "Needed by every type but obat"})

    @validates_schema(skip_on_field_errors=True)
    def check_time(self, data: dict[str, Any], **_: Any) -> None:
        if data["tipe"] != Tipe.OBAT and "waktu" not in data:
            raise ValidationError("wajib diisi.", "waktu")


class PengingatUpdate(Schema):
    """What is sent changes, the rest stays; `details` is replaced whole."""

    tipe = fields.String(validate=validate.OneOf([tipe.value for tipe in Tipe]))
    judul = Text(200, minimum=1)
    waktu = Timestamp()
    timezone = fields.String(validate=_zone)
    details = fields.Dict(keys=fields.String())
    is_done = fields.Boolean(metadata={"description": "Of the current occurrence"})


class Pengingat(Schema):
    id = fields.Integer(metadata={"example": 1})
    tipe = fields.String(metadata={"example": "obat"})
    judul = fields.String()
    waktu = Timestamp(metadata={"description": "Of obat: the next dose"})
    timezone = fields.String(metadata={"example": DEFAULT_ZONE})
    details = fields.Dict()
    is_done = fields.Boolean()
    created_at = Timestamp()
    updated_at = Timestamp()


class TipeQuerySchema(Schema):
    tipe = fields.String(validate=validate.OneOf([tipe.value for tipe in Tipe]))
