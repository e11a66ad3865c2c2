"""The details of a reminder by type: fields with a name here are checked, others stay as they came."""

from __future__ import annotations

import json
from collections.abc import Mapping

from marshmallow import INCLUDE, Schema, ValidationError, fields, post_load, pre_load, validate, validates_schema

from app.core.errors import ValidationFailed
from app.core.lib.clock import rfc3339
from app.core.web.fields import ListOf, Text, Timestamp
from app.pengingat import models
from app.pengingat.models import Tipe
from app.pengingat.plans import MEALS
from app.pengingat.schedule import OFFSETS, WEEKDAYS

MAX_DETAILS_BYTES = 16 * 1024
MAX_SESSIONS = 50

RULES = ("sebelum makan", "setelah makan", "saat makan")
SYNONYMS = {"sesudah makan": "setelah makan", "bersama makan": "saat makan"}


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
