"""Base class of the types of reminders. Each type has one module in this package, and one entry in `registry`.

All modules of this package are pure: they use neither the database nor HTTP.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from marshmallow import INCLUDE, Schema, ValidationError, fields, validate

from app.core.lib.break_links import break_links
from app.core.web.fields import Boolean
from app.pengingat.timetable.schedule import Schedule, Slot, wall_time

#: Details of a reminder: the fields that the schema of its type checks, and any other JSON fields that the client sent.
Details = dict[str, Any]

MAX_DETAILS_BYTES = 16 * 1024

#: Key next to each `jam` of the stored details. Its value is the wall time `HH:MM`, which repeats. `shown` removes it.
WALL = "_wall"


class TimeOfDay(fields.String):
    """Field for a time of day: `HH:MM` in UTC."""

    def __init__(self, **kwargs: Any) -> None:
        pattern = validate.Regexp(r"([01]\d|2[0-3]):[0-5]\d\Z", error="tulis seperti 07:30.")
        super().__init__(validate=pattern, metadata={"example": "00:00", "description": "HH:MM in UTC"}, **kwargs)


class DetailsPart(Schema):
    """Object in the details. A client may send other fields too. They are stored without a check."""

    class Meta:
        unknown = INCLUDE


class DetailsSchema(DetailsPart):
    """Details that all types of reminders may have."""

    penting = Boolean(
        allow_none=True,
        metadata={
            "description": "Alert caregivers with the scope `alerts` also at night, except in their own quiet hours"
        },
    )


class ReminderType(ABC):
    """One type of reminder. Texts have links broken, because the recipient's number may belong to a stranger."""

    #: Value of the field `tipe`. The page of a link shows it too.
    name: ClassVar[str]
    #: The reminder in a sentence to a caregiver or in the chat.
    noun: ClassVar[str]
    #: Words in the chat that only name this type or its act, such as `minum`.
    words: ClassVar[frozenset[str]] = frozenset()
    schema: ClassVar[DetailsSchema]
    #: Example request body for the API documentation, without `tipe` and `timezone`.
    example: ClassVar[Details]
    #: Field of the details with a name that people may use in the chat, if any.
    name_field: ClassVar[str | None] = None
    #: True if a slot is only a place in a list of the details. Then an edit may move a due time to another slot.
    has_numbered_slots: ClassVar[bool] = False
    #: True if `waktu` is always the next due time. Then a `waktu` that the client sends is ignored.
    shows_next_time: ClassVar[bool] = False
    #: False if only a PUT request with `is_done` makes the reminder done, and an answer does not.
    is_done_by_answers: ClassVar[bool] = True

    @abstractmethod
    def schedule(self, details: Details, first_at: datetime | None, zone: ZoneInfo) -> Schedule:
        """Return the schedule. `first_at` is needed only if the details have no times."""

    @abstractmethod
    def sentence(self, details: Details, title: str, slot: str, local: datetime) -> str:
        """Return the sentence of a message, which begins with a small letter.

        `local` is the time of the dose, meal, session or appointment in the reminder's time zone.
        """

    @abstractmethod
    def what(self, details: Details, slot: str, day: date) -> str:
        """Return the text for a client to show with title and time, such as `1 tablet, setelah makan`. May be empty."""

    def timed_parts(self, details: Details) -> Iterator[tuple[str, Details]]:
        """Yield each part of the details that has a `jam`, with the name of the field that contains the part."""
        yield from ()

    def has_times(self, details: Details) -> bool:
        """Return whether these checked details contain times. If they do, a request needs no field `waktu`."""
        return any(self.timed_parts(details))

    def name_of(self, details: Details) -> str | None:
        """Return the name that the person gave to the medicine, therapy or doctor."""
        return details.get(self.name_field) if self.name_field else None

    def label(self, details: Details, slot: str) -> str:
        """Return a short name of one due time, such as `Metformin` or `sarapan`. It may be empty."""
        return break_links(self.name_of(details) or "")

    def medicine(self, details: Details) -> str:
        """Return the name of the medicine, or an empty string for other types."""
        return ""

    def prescription(self, details: Details) -> str:
        """Return the local times for the report for the doctor: `Senin pukul 09.00, kamis pukul 09.00`, or nothing."""
        times = [f"{part.get('hari', field)} pukul {part[WALL]}" for field, part in self.timed_parts(details)]
        return ", ".join(times).replace("_", " ").replace(":", ".").capitalize()

    def lead(self, slot: str) -> timedelta:
        """Return the time between the message of this slot and its event."""
        return timedelta()

    def again_after(self, details: Details) -> timedelta | None:
        """Return the delay of the second message if nobody answers, or None if there is no second message."""
        return None

    def load(self, sent: Details) -> Details:
        """Check and normalise details that a client sent. Raise `ValidationError` with the invalid fields."""
        details = shown(sent)
        if len(json.dumps(details)) > MAX_DETAILS_BYTES:
            raise ValidationError("terlalu besar.")
        loaded: Details = self.schema.load(details)
        return loaded

    def set_wall_times(self, details: Details, zone: ZoneInfo, now: datetime, before: Details | None = None) -> None:
        """Store the wall time next to each `jam`, with the UTC offset that the zone has at the moment `now`.

        A `jam` that the same field of the details `before` contains keeps its wall time.
        """
        old_parts = self.timed_parts(before) if before else ()
        kept = {(field, part["jam"]): part[WALL] for field, part in old_parts}
        for field, part in self.timed_parts(details):
            known = kept.get((field, part["jam"]))
            part[WALL] = known or f"{wall_time(part['jam'], zone, now):%H:%M}"


def shown(details: Details) -> Details:
    """Return a copy of the details without the stored wall times."""
    return {name: _shown(value) for name, value in details.items() if name != WALL}


def _shown(value: Any) -> Any:
    if isinstance(value, dict):
        return shown(value)
    return [_shown(each) for each in value] if isinstance(value, list) else value


def slot_of(name: str, part: Details, weekday: int | None = None) -> Slot:
    """Return the slot of a part of the details that has a `jam`."""
    return Slot(name, time.fromisoformat(part[WALL]), weekday)


def at_place(name: str) -> str:
    return f" di {name}" if name else ""


def after_blank(words: str) -> str:
    return f" {words}" if words else ""
