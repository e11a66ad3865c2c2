"""Sessions of a therapy (terapi)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from zoneinfo import ZoneInfo

from marshmallow import ValidationError, fields, pre_load, validate, validates_schema

from app.core.lib.break_links import break_links
from app.core.lib.local_time import clock_time
from app.core.web.fields import ListOf, Text
from app.pengingat.timetable.schedule import WEEKDAYS, Schedule
from app.pengingat.types.base import (
    Details,
    DetailsPart,
    DetailsSchema,
    ReminderType,
    TimeOfDay,
    after_blank,
    at_place,
    slot_of,
)

MAX_SESSIONS = 50

EXAMPLE = {
    "judul": "Fisioterapi",
    "details": {
        "jenis_terapi": "Fisioterapi",
        "tempat_terapi": "RSUD Cibabat",
        "jadwal": [{"hari": "senin", "jam": "02:00"}, {"hari": "kamis", "jam": "02:00"}],
    },
}


class TherapySession(DetailsPart):
    hari = fields.String(
        required=True,
        validate=validate.OneOf(WEEKDAYS),
        metadata={"example": "senin", "description": "Weekday in the reminder's time zone"},
    )
    jam = TimeOfDay(required=True)

    @pre_load
    def lower_day(self, data: object, **_: object) -> object:
        if isinstance(data, Mapping) and isinstance(data.get("hari"), str):
            return {**data, "hari": data["hari"].lower()}
        return data


class TerapiDetails(DetailsSchema):
    jenis_terapi = Text(200, allow_none=True, example="Fisioterapi")
    tempat_terapi = Text(200, allow_none=True, example="RSUD Cibabat")
    jadwal = ListOf(fields.Nested(TherapySession), most=MAX_SESSIONS)

    @validates_schema(skip_on_field_errors=True)
    def check_sessions(self, data: Details, **_: object) -> None:
        sessions = [(row["hari"], row["jam"]) for row in data.get("jadwal", [])]
        if len(set(sessions)) != len(sessions):
            raise ValidationError("tidak boleh menyebut satu waktu dua kali.", "jadwal")


class Terapi(ReminderType):
    name = noun = "terapi"
    words = frozenset({"terapi"})
    schema = TerapiDetails()
    name_field = "jenis_terapi"
    has_numbered_slots = True
    example = EXAMPLE

    def timed_parts(self, details: Details) -> Iterator[tuple[str, Details]]:
        yield from (("jadwal", session) for session in details.get("jadwal", []))

    def schedule(self, details: Details, first_at: datetime | None, zone: ZoneInfo) -> Schedule:
        sessions = details.get("jadwal")
        if not sessions:
            return Schedule(zone, single_at=first_at)
        days = (WEEKDAYS.index(session["hari"]) for session in sessions)
        return Schedule(
            zone, slots=tuple(slot_of(str(n), *each) for n, each in enumerate(zip(sessions, days, strict=True)))
        )

    def sentence(self, details: Details, title: str, slot: str, local: datetime) -> str:
        what = self.label(details, slot) or break_links(title)
        return f"waktunya terapi{after_blank(what)}{_place(details)} pukul {clock_time(local)}."

    def what(self, details: Details, slot: str, day: date) -> str:
        return (self.label(details, slot) + _place(details)).strip()


def _place(details: Details) -> str:
    return at_place(break_links(details.get("tempat_terapi") or ""))
