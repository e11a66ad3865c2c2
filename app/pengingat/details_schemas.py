"""Schemas for the details of each type of reminder.

A client may send other fields too. They are stored without a check.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from marshmallow import INCLUDE, Schema, ValidationError, fields, post_load, pre_load, validate, validates_schema

from app.core.errors import ValidationFailed
from app.core.lib.local_time import rfc3339
from app.core.web.fields import Day, ListOf, Text, Timestamp
from app.pengingat.timetable.doses import MAX_INSTRUCTION
from app.pengingat.timetable.plans import MEALS
from app.pengingat.timetable.schedule import OFFSETS, WEEKDAYS
from app.pengingat.timetable.tipe import Details as JsonDetails
from app.pengingat.timetable.tipe import Tipe

MAX_DETAILS_BYTES = 16 * 1024
MAX_SESSIONS = 50
MAX_STOCK = 1_000_000

RULES = ("sebelum makan", "setelah makan", "saat makan")
#: A web or e-mail address in an instruction. A capital letter after the dot is a new sentence: `makan.Jangan`.
ADDRESS = re.compile(r"://|@|\bwww\.|\w\.[a-z]{2,}")
SYNONYMS = {"sesudah makan": "setelah makan", "bersama makan": "saat makan"}


class TimeOfDay(fields.String):
    """Field for a time of day: `HH:MM` in UTC."""

    def __init__(self, *, required: bool = False, allow_none: bool = False) -> None:
        super().__init__(
            required=required,
            allow_none=allow_none,
            validate=validate.Regexp(r"([01]\d|2[0-3]):[0-5]\d\Z", error="tulis seperti 07:30."),
            metadata={"example": "00:00", "description": "HH:MM in UTC"},
        )


class Amount(fields.Float):
    """Field for an amount of medicine. The amount must be above 0, or with `zero=True` at least 0."""

    def __init__(
        self,
        *,
        maximum: int,
        example: float,
        zero: bool = False,
        required: bool = False,
        description: str | None = None,
    ) -> None:
        metadata = {"example": example, **({"description": description} if description else {})}
        bounds = validate.Range(min=0, min_inclusive=zero, max=maximum)
        super().__init__(required=required, validate=bounds, metadata=metadata)


class Details(Schema):
    class Meta:
        unknown = INCLUDE


class OfReminder(Details):
    """Details that all types of reminders may have."""

    penting = fields.Boolean(
        allow_none=True,
        metadata={
            "description": "Alert caregivers with the scope `alerts` also at night, except in their own quiet hours"
        },
    )


class Dose(Details):
    jam = TimeOfDay(required=True)
    jumlah = Amount(required=True, maximum=100_000, example=1)
    satuan = Text(50, required=True, example="tablet")


def _refuse_addresses(text: str) -> None:
    if ADDRESS.search(text):
        raise ValidationError("tidak boleh berisi alamat web.")


def _check_times(jadwal: list[JsonDetails]) -> None:
    times = [dose["jam"] for dose in jadwal]
    if len(set(times)) != len(times):
        raise ValidationError("tidak boleh menyebut satu jam dua kali.", "jadwal")


def _check_days(data: JsonDetails) -> None:
    if data.get("mulai") and data.get("selesai") and data["selesai"] < data["mulai"]:
        raise ValidationError("tidak boleh sebelum tanggal mulai.", "selesai")


def _with_days_as_text(data: JsonDetails) -> JsonDetails:
    return {name: value.isoformat() if isinstance(value, date) else value for name, value in data.items()}


class TemporarySchedule(Details):
    """Doses that replace `jadwal` for some days, for example during fasting. The person enters the dose times."""

    mulai = Day(
        required=True, metadata={"example": "2026-02-18", "description": "First day, in the reminder's time zone"}
    )
    selesai = Day(required=True, metadata={"example": "2026-03-19", "description": "Last day, included"})
    jadwal = ListOf(fields.Nested(Dose), least=1, most=3, required=True)

    @validates_schema(skip_on_field_errors=True)
    def check_order(self, data: JsonDetails, **_: object) -> None:
        _check_days(data)
        _check_times(data["jadwal"])

    @post_load
    def normalise(self, data: JsonDetails, **_: object) -> JsonDetails:
        return _with_days_as_text(data)


class Stock(Details):
    """Remaining amount of a medicine. The service subtracts each dose that the person marks as done."""

    sisa = Amount(
        required=True,
        maximum=MAX_STOCK,
        zero=True,
        example=60,
        description="Current amount, in the unit of the doses",
    )
    ingatkan_hari = fields.Integer(
        strict=True,
        load_default=7,
        validate=validate.Range(1, 30),
        metadata={
            "example": 7,
            "description": "Send one notice at 09.00 when the stock is enough for this many days or less",
        },
    )


class ObatDetails(OfReminder):
    nama_obat = Text(200, required=True, example="Metformin")
    frekuensi = fields.Integer(required=True, strict=True, validate=validate.Range(1, 3), metadata={"example": 2})
    jadwal = ListOf(fields.Nested(Dose), least=1, most=3, required=True)
    aturan = fields.String(
        required=True,
        validate=validate.OneOf([*RULES, *SYNONYMS]),
        metadata={"example": "setelah makan"},
    )
    petunjuk = Text(
        MAX_INSTRUCTION,
        allow_none=True,
        rules=[_refuse_addresses],
        example="jangan dengan susu",
        metadata={"description": "Instruction that is shown after the dose. Web addresses are refused"},
    )
    ingatkan_ulang_menit = fields.Integer(
        strict=True,
        allow_none=True,
        validate=validate.Range(10, 60),
        metadata={"example": 30, "description": "Repeat an unanswered message once after this many minutes"},
    )

    mulai = Day(
        allow_none=True,
        metadata={"example": "2026-03-02", "description": "First day of the course, in the reminder's time zone"},
    )
    selesai = Day(
        allow_none=True,
        metadata={"example": "2026-03-11", "description": "Last day of the course. Without it the course has no end"},
    )
    jadwal_sementara = fields.Nested(TemporarySchedule, allow_none=True)
    persediaan = fields.Nested(Stock, allow_none=True)

    @validates_schema(skip_on_field_errors=True)
    def check_doses(self, data: JsonDetails, **_: object) -> None:
        if len(data["jadwal"]) != data["frekuensi"]:
            raise ValidationError("Jumlah jam harus sama dengan frekuensi.", "frekuensi")
        _check_times(data["jadwal"])
        temporary = data.get("jadwal_sementara")
        if temporary and len(temporary["jadwal"]) != data["frekuensi"]:
            raise ValidationError({"jadwal_sementara": {"jadwal": ["Jumlah jam harus sama dengan frekuensi."]}})

    @validates_schema(skip_on_field_errors=True)
    def check_course(self, data: JsonDetails, **_: object) -> None:
        _check_days(data)

    @post_load
    def normalise(self, data: JsonDetails, **_: object) -> JsonDetails:
        return _with_days_as_text({**data, "aturan": SYNONYMS.get(data["aturan"], data["aturan"])})


class Meal(Details):
    jam = TimeOfDay(allow_none=True)
    karbohidrat = Text(500, allow_none=True, example="nasi merah")
    protein = Text(500, allow_none=True, example="telur")
    lemak = Text(500, allow_none=True)
    vitamin = Text(500, allow_none=True)
    serat = Text(500, allow_none=True)


class MakanDetails(OfReminder):
    sarapan = fields.Nested(Meal)
    makan_siang = fields.Nested(Meal)
    makan_malam = fields.Nested(Meal)
    selingan = fields.Nested(Meal)


class TherapySession(Details):
    hari = fields.String(
        required=True,
        validate=validate.OneOf(WEEKDAYS),
        metadata={"example": "senin", "description": "Weekday in the reminder's time zone"},
    )
    jam = TimeOfDay(required=True)


class TerapiDetails(OfReminder):
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
    def check_sessions(self, data: JsonDetails, **_: object) -> None:
        sessions = [(row["hari"], row["jam"]) for row in data.get("jadwal", [])]
        if len(set(sessions)) != len(sessions):
            raise ValidationError("tidak boleh menyebut satu waktu dua kali.", "jadwal")


class ReminderOffset(Details):
    offset = fields.String(required=True, validate=validate.OneOf(list(OFFSETS)), metadata={"example": "1h"})


class KontrolDetails(OfReminder):
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
    def normalise(self, data: JsonDetails, **_: object) -> JsonDetails:
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
assert set(MEALS) <= set(MakanDetails().fields)  # noqa: S101  # the schema must have a field for each meal


class Checked(dict[str, Any]):
    """Details of a reminder. The schema of the type `tipe` has already checked and normalised them."""

    def __init__(self, tipe: str, details: JsonDetails) -> None:
        super().__init__(details)
        self.tipe = tipe


class DetailsOfTipe(fields.Dict):
    """Field for the details of a reminder. The field `tipe` of the same request selects the schema.

    If the request has no valid `tipe`, this field does not check the details. Then `load_details` must check them.
    """

    def __init__(self, tipe: str | None = None, **kwargs: Any) -> None:
        super().__init__(keys=fields.String(), **kwargs)
        self._tipe = tipe

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> JsonDetails:
        details: JsonDetails = super()._deserialize(value, attr, data, **kwargs)  # type: ignore[no-untyped-call]
        tipe = self._tipe or (data or {}).get("tipe")
        return _load(tipe, details) if tipe in list(DETAILS) else details


def load_details(tipe: str, details: JsonDetails) -> JsonDetails:
    """Check and normalise the details of a reminder of this type. Raise `ValidationFailed` with the invalid fields."""
    if isinstance(details, Checked) and details.tipe == tipe:
        return dict(details)
    try:
        return dict(_load(tipe, details))
    except ValidationError as error:
        raise ValidationFailed({"details": error.messages}) from None


def _load(tipe: str, details: JsonDetails) -> Checked:
    if len(json.dumps(details)) > MAX_DETAILS_BYTES:
        raise ValidationError("terlalu besar.")
    return Checked(tipe, DETAILS[tipe].load(details))
