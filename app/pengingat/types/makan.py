"""Meals (makan)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from zoneinfo import ZoneInfo

from marshmallow import fields

from app.core.lib.break_links import break_links
from app.core.lib.local_time import clock_time
from app.core.web.fields import Text
from app.pengingat.timetable.schedule import Schedule, Slot
from app.pengingat.types.base import Details, DetailsPart, DetailsSchema, ReminderType, TimeOfDay, slot_of

#: Fields of the details, with the name of the meal in a message.
MEALS = {
    "sarapan": "sarapan",
    "makan_siang": "makan siang",
    "makan_malam": "makan malam",
    "selingan": "makan selingan",
}
NUTRIENTS = ("karbohidrat", "protein", "lemak", "vitamin", "serat")
#: The only slot of a reminder whose meals have no times.
ANY_MEAL = "makan"

EXAMPLE = {
    "judul": "Makan teratur",
    "details": {
        "sarapan": {"jam": "23:30", "karbohidrat": "nasi merah", "protein": "telur", "serat": "pepaya"},
        "makan_malam": {"jam": "11:30"},
    },
}


class Meal(DetailsPart):
    jam = TimeOfDay(allow_none=True)
    karbohidrat = Text(500, allow_none=True, example="nasi merah")
    protein = Text(500, allow_none=True, example="telur")
    lemak = Text(500, allow_none=True)
    vitamin = Text(500, allow_none=True)
    serat = Text(500, allow_none=True)


class MakanDetails(DetailsSchema):
    sarapan = fields.Nested(Meal)
    makan_siang = fields.Nested(Meal)
    makan_malam = fields.Nested(Meal)
    selingan = fields.Nested(Meal)


class Makan(ReminderType):
    name = noun = "makan"
    words = frozenset({"makan"})
    schema = MakanDetails()
    example = EXAMPLE

    def timed_parts(self, details: Details) -> Iterator[tuple[str, Details]]:
        yield from ((meal, details[meal]) for meal in MEALS if details.get(meal, {}).get("jam"))

    def schedule(self, details: Details, first_at: datetime | None, zone: ZoneInfo) -> Schedule:
        slots = tuple(slot_of(meal, part) for meal, part in self.timed_parts(details))
        if not slots:
            assert first_at is not None  # noqa: S101  # the service requires `waktu` if the details have no time
            slots = (Slot(ANY_MEAL, first_at.astimezone(zone).time().replace(second=0, microsecond=0)),)
        return Schedule(zone, slots=slots)

    def sentence(self, details: Details, title: str, slot: str, local: datetime) -> str:
        menu = _menu(details, slot)
        return f"waktunya {MEALS.get(slot, 'makan')} pukul {clock_time(local)}." + (f" Menu: {menu}." if menu else "")

    def label(self, details: Details, slot: str) -> str:
        return MEALS.get(slot, "")

    def what(self, details: Details, slot: str, day: date) -> str:
        return ": ".join(filter(None, (MEALS.get(slot, ""), _menu(details, slot))))


def _menu(details: Details, slot: str) -> str:
    """Return the foods of a meal, for example `nasi merah, telur`."""
    meal = details.get(slot) or {}
    return ", ".join(filter(None, (break_links(meal.get(name) or "") for name in NUTRIENTS)))
