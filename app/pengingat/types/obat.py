"""Doses of a medicine (obat)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from marshmallow import ValidationError, fields, post_load, validate, validates_schema

from app.core.lib.break_links import break_links
from app.core.lib.local_time import clock_time
from app.core.web.fields import Day, ListOf, Text
from app.pengingat.timetable.schedule import Schedule, Slot, Temporary
from app.pengingat.types.base import (
    WALL,
    Details,
    DetailsPart,
    DetailsSchema,
    ReminderType,
    TimeOfDay,
    after_blank,
    slot_of,
)

MAX_STOCK = 1_000_000
RULES = ("sebelum makan", "setelah makan", "saat makan")
SYNONYMS = {"sesudah makan": "setelah makan", "bersama makan": "saat makan"}
#: A web or e-mail address in an instruction. A capital letter after the dot is a new sentence: `makan.Jangan`.
ADDRESS = re.compile(r"://|@|\bwww\.|\w\.[a-z]{2,}")
#: Field of the details with the doses that replace `jadwal` for some days.
TEMPORARY = "jadwal_sementara"

#: Verbs for taking a medicine. The value of each verb lists the units of doses that need this verb. Other units have no
#: verb.
UNITS = {
    "suntikkan": "unit iu ampul vial pen",
    "teteskan": "tetes",
    "oleskan": "oles salep krim gel",
    "hirup": "semprot puff hirup inhalasi",
    "pakai": "suppositoria ovula plester koyo",
    "minum": "tablet kapsul pil kaplet butir biji strip ml cc sendok sachet bungkus",
}
VERBS = {unit: verb for verb, units in UNITS.items() for unit in units.split()}

EXAMPLE = {
    "judul": "Obat diabetes",
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
}


def _refuse_addresses(text: str) -> None:
    if ADDRESS.search(text):
        raise ValidationError("tidak boleh berisi alamat web.")


class Amount(fields.Float):
    """Field for an amount of medicine. The amount must be above 0, or with `zero=True` at least 0."""

    def __init__(self, maximum: int, *, zero: bool = False, **kwargs: Any) -> None:
        super().__init__(validate=validate.Range(min=0, min_inclusive=zero, max=maximum), **kwargs)


class Dose(DetailsPart):
    jam = TimeOfDay(required=True)
    jumlah = Amount(100_000, required=True, metadata={"example": 1})
    satuan = Text(50, required=True, example="tablet")


class DaysAndDoses(DetailsPart):
    """Part of the details with doses, and with the days on which they are taken."""

    @validates_schema(skip_on_field_errors=True)
    def check_times_and_days(self, data: Details, **_: object) -> None:
        times = [dose["jam"] for dose in data["jadwal"]]
        if len(set(times)) != len(times):
            raise ValidationError("tidak boleh menyebut satu jam dua kali.", "jadwal")
        if data.get("mulai") and data.get("selesai") and data["selesai"] < data["mulai"]:
            raise ValidationError("tidak boleh sebelum tanggal mulai.", "selesai")

    @post_load
    def write_days_as_text(self, data: Details, **_: object) -> Details:
        return {name: value.isoformat() if isinstance(value, date) else value for name, value in data.items()}


class TemporarySchedule(DaysAndDoses):
    """Doses that replace `jadwal` for some days, for example during fasting. The person enters the dose times."""

    mulai = Day(
        required=True, metadata={"example": "2026-02-18", "description": "First day, in the reminder's time zone"}
    )
    selesai = Day(required=True, metadata={"example": "2026-03-19", "description": "Last day, included"})
    jadwal = ListOf(fields.Nested(Dose), least=1, most=3, required=True)


class Stock(DetailsPart):
    """Remaining amount of a medicine. The service subtracts each dose that the person marks as done."""

    sisa = Amount(
        MAX_STOCK,
        zero=True,
        required=True,
        metadata={"example": 60, "description": "Current amount, in the unit of the doses"},
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


class ObatDetails(DetailsSchema, DaysAndDoses):
    nama_obat = Text(200, required=True, example="Metformin")
    frekuensi = fields.Integer(required=True, strict=True, validate=validate.Range(1, 3), metadata={"example": 2})
    jadwal = ListOf(fields.Nested(Dose), least=1, most=3, required=True)
    aturan = fields.String(
        required=True, validate=validate.OneOf([*RULES, *SYNONYMS]), metadata={"example": "setelah makan"}
    )
    petunjuk = Text(
        100,
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
    def check_numbers_of_doses(self, data: Details, **_: object) -> None:
        if len(data["jadwal"]) != data["frekuensi"]:
            raise ValidationError("Jumlah jam harus sama dengan frekuensi.", "frekuensi")
        temporary = data.get(TEMPORARY)
        if temporary and len(temporary["jadwal"]) != data["frekuensi"]:
            raise ValidationError({TEMPORARY: {"jadwal": ["Jumlah jam harus sama dengan frekuensi."]}})

    @post_load
    def replace_synonyms(self, data: Details, **_: object) -> Details:
        return {**data, "aturan": SYNONYMS.get(data["aturan"], data["aturan"])}


class Obat(ReminderType):
    name = noun = "obat"
    words = frozenset({"minum", "diminum", "mnm", "obat", "obatnya", "obt"})
    schema = ObatDetails()
    name_field = "nama_obat"
    has_numbered_slots = True
    shows_next_time = True
    example = EXAMPLE

    def timed_parts(self, details: Details) -> Iterator[tuple[str, Details]]:
        yield from (("jadwal", dose) for dose in details.get("jadwal", []))
        yield from ((TEMPORARY, dose) for dose in (details.get(TEMPORARY) or {}).get("jadwal", []))

    def schedule(self, details: Details, first_at: datetime | None, zone: ZoneInfo) -> Schedule:
        other = details.get(TEMPORARY)
        return Schedule(
            zone,
            slots=_slots(details),
            first=_day(details.get("mulai")) or date.min,
            last=_day(details.get("selesai")) or date.max,
            temporary=Temporary(*_days(other), _slots(other)) if other else None,
        )

    def sentence(self, details: Details, title: str, slot: str, local: datetime) -> str:
        verb = _verb(doses_on(details, local.date())[int(slot)]["satuan"])
        what = f"{after_blank(verb)} {self.medicine(details) or 'obat'}"
        return f"waktunya{what} ({self.what(details, slot, local.date())}) pukul {clock_time(local)}."

    def what(self, details: Details, slot: str, day: date) -> str:
        doses = doses_on(details, day)
        is_dose = slot.isdigit() and int(slot) < len(doses)  # an edit may have removed the dose
        return f"{_quantity(doses[int(slot)])}, {_manner(details)}" if is_dose else ""

    def medicine(self, details: Details) -> str:
        return self.label(details, "")

    def prescription(self, details: Details) -> str:
        """Return all doses with local times: `Metformin: 1 tablet pukul 07.00 dan 13.00, setelah makan`."""
        times: dict[str, list[str]] = defaultdict(list)
        for dose in details["jadwal"]:
            times[_quantity(dose)].append(dose[WALL].replace(":", "."))
        taken = [f"{what} pukul {' dan '.join(', '.join(at).rsplit(', ', 1))}" for what, at in times.items()]
        return f"{self.medicine(details)}: {', '.join([*taken, _manner(details)])}"

    def again_after(self, details: Details) -> timedelta | None:
        minutes = details.get("ingatkan_ulang_menit")
        return None if minutes is None else timedelta(minutes=minutes)


def doses_on(details: Details, day: date) -> list[Details]:
    """Return the doses of a medicine on this day: the temporary doses or the normal doses."""
    other = details.get(TEMPORARY)
    if other:
        first, last = _days(other)
        if first <= day <= last:
            details = other
    doses: list[Details] = details["jadwal"]
    return doses


def exact(number: float) -> Decimal:
    """Return the decimal number that the client sent. Sums of these numbers are exact, unlike sums of floats."""
    return Decimal(repr(number))


def _quantity(dose: Details) -> str:
    """Return the amount with all digits and the unit of a dose, for example `0,5 tablet`."""
    amount = f"{exact(dose['jumlah']).normalize():f}".replace(".", ",")
    return f"{amount} {break_links(dose['satuan'])}".strip()


def _manner(details: Details) -> str:
    """Return the instructions for a dose, for example `setelah makan, jangan dengan susu`."""
    return ", ".join(filter(None, (details["aturan"], break_links(details.get("petunjuk") or ""))))


def _verb(unit: str) -> str:
    """Return the verb for a unit: `minum` for `tablet`, `suntikkan` for `IU (pagi)`, empty for an unknown unit."""
    first = re.match(r"\W*(\w+)", unit.casefold())
    return VERBS.get(first[1], "") if first else ""


def _slots(part: Details) -> tuple[Slot, ...]:
    return tuple(slot_of(str(n), dose) for n, dose in enumerate(part["jadwal"]))


def _days(part: Details) -> tuple[date, date]:
    return date.fromisoformat(part["mulai"]), date.fromisoformat(part["selesai"])


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None
