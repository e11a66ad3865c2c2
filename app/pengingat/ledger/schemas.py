"""Schemas for answers to occurrences, and for history, daily lists and reports.

An occurrence is one due time of a reminder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, TypedDict

from marshmallow import Schema, ValidationError, fields, post_load, validate, validates_schema

from app.core.web.fields import Day, Text, Timestamp, enumeration
from app.core.web.pagination import Page, PageSchema
from app.pengingat.models import AnsweredVia, OccurrenceState
from app.pengingat.schemas import TIPE
from app.pengingat.timetable.schedule import AHEAD
from app.pengingat.types.registry import TYPES

#: Maximum number of days in one request, and the default number.
MAX_DAYS = 92
DEFAULT_DAYS = 30

SNOOZE, UNDO = "snooze", "undo"
STATUSES = ["done", "skipped", SNOOZE]
STATES = [state.value for state in OccurrenceState]
STATE = enumeration("OccurrenceState", STATES)


@dataclass(frozen=True)
class QuickAnswer:
    """Answer to all pending occurrences of a link, a push or a message."""

    status: str  # one of STATUSES, or in `NewAnswer` also UNDO
    minutes: int = 30


@dataclass(frozen=True)
class NewAnswer(QuickAnswer):
    """Answer to the occurrence at `due_at`, or to the current occurrence if `due_at` is None."""

    due_at: datetime | None = None
    slot: str | None = None
    #: Time of an offline answer.
    answered_at: datetime | None = None


class QuickAnswerCreate(Schema):
    """Answer to all pending occurrences of a link or a push."""

    status = fields.String(required=True, validate=validate.OneOf(STATUSES), metadata={"example": "done"})
    minutes = fields.Integer(
        load_default=QuickAnswer.minutes,
        strict=True,
        validate=validate.Range(5, 120),
        metadata={
            "example": 30,
            "description": "Minutes of a snooze. They begin now, or at the due time if that is later",
        },
    )

    @post_load
    def to_answer(self, data: dict[str, Any], **_: object) -> QuickAnswer:
        return QuickAnswer(**data)


class AnswerCreate(QuickAnswerCreate):
    """Answer to one occurrence, or undo of an answer. The default is the current occurrence."""

    status = fields.String(
        required=True,
        validate=validate.OneOf([*STATUSES, UNDO]),
        metadata={"example": "done", "description": "undo takes back the last answer, or the answer for due_at"},
    )
    due_at = Timestamp(metadata={"description": "Due time of the occurrence, at most 60 minutes ahead"})
    slot = Text(50, example="0", metadata={"description": "Selects one of several occurrences with the same due time"})
    answered_at = Timestamp(
        metadata={
            "example": "2026-03-02T00:05:00Z",
            "description": "Time at which the person gave the answer done or skipped offline. At most 7 days back, or"
            " 2 minutes ahead because clocks may be fast. Requires due_at",
        }
    )

    @validates_schema(skip_on_field_errors=False, pass_original=True)
    def check_offline(self, data: dict[str, Any], original_data: Mapping[str, object], **_: object) -> None:
        at, due_at = data.get("answered_at"), data.get("due_at")
        if at is None:
            return
        errors = {} if "due_at" in original_data else {"due_at": ["wajib diisi."]}
        if data.get("status") in (SNOOZE, UNDO):
            errors["answered_at"] = ["hanya untuk jawaban done atau skipped."]
        elif due_at and at < due_at - AHEAD:
            errors["answered_at"] = ["paling awal satu jam sebelum waktunya."]
        if errors:
            raise ValidationError(errors)

    @post_load
    def to_answer(self, data: dict[str, Any], **_: object) -> NewAnswer:
        return NewAnswer(**data)


class LinkAnswer(TypedDict):
    status: str
    tipe: str
    due_at: datetime
    state: str
    snoozed_until: datetime | None


class LinkAnswerShown(Schema):
    """Result of an answer by link. It does not contain the reminder's title, because links may be forwarded."""

    status = fields.String(validate=validate.OneOf(STATUSES), metadata={"example": "done"})
    tipe = fields.String(validate=validate.OneOf(TYPES), metadata={"example": "obat"})
    due_at = Timestamp()
    state = fields.String(validate=validate.OneOf(STATES), metadata={"example": "done"})
    snoozed_until = Timestamp(allow_none=True)


class Occurrence(Schema):
    """One due time of a reminder, and its outcome."""

    id = fields.Integer(metadata={"example": 1})
    pengingat_id = fields.Integer(
        attribute="reminder_id",
        allow_none=True,
        metadata={"example": 1, "description": "null if the reminder was deleted"},
    )
    tipe = fields.String(validate=validate.OneOf(TYPES), metadata={**TIPE, "example": "obat"})
    judul = fields.String(metadata={"example": "Minum obat diabetes"})
    slot = fields.String(metadata={"example": "0", "description": "Which dose, meal, session or offset"})
    due_at = Timestamp()
    state = fields.String(validate=validate.OneOf(STATES), metadata={**STATE, "example": "done"})
    late = fields.Boolean(metadata={"description": "Done after it had been missed"})
    answered_at = Timestamp(allow_none=True)
    answered_via = fields.String(
        allow_none=True,
        validate=validate.OneOf([*AnsweredVia, None]),
        metadata={"example": "app"},
    )
    snoozed_until = Timestamp(allow_none=True)
    undelivered = fields.Boolean(
        metadata={"description": "No channel delivered the message. Set when the occurrence becomes missed"}
    )


class DayQuerySchema(Schema):
    date = Day(
        load_default=None,
        metadata={
            "example": "2026-03-02",
            "description": "Day in each reminder's time zone, from 92 days back to tomorrow. Default: today",
        },
    )


class DoseOfDay(Schema):
    """One due time of a reminder on a day, for the main page of a client."""

    pengingat_id = fields.Integer(
        allow_none=True, metadata={"example": 1, "description": "null if the reminder was deleted"}
    )
    tipe = fields.String(validate=validate.OneOf(TYPES), metadata={**TIPE, "example": "obat"})
    judul = fields.String(metadata={"example": "Minum obat diabetes"})
    what = fields.String(
        metadata={
            "example": "1 tablet, setelah makan",
            "description": "Details to show with the title and the time. May be empty",
        }
    )
    slot = fields.String(metadata={"example": "0", "description": "Which dose, meal, session or offset"})
    due_at = Timestamp()
    local_time = fields.String(
        metadata={
            "example": "07:00",
            "description": "Time of day in the reminder's time zone. For kontrol: time of the appointment",
        }
    )
    state = fields.String(
        validate=validate.OneOf(STATES),
        metadata={
            **STATE,
            "example": "pending",
            "description": "State of the occurrence. Never void",
        },
    )
    late = fields.Boolean(metadata={"description": "Done after it had been missed"})
    answered_at = Timestamp(allow_none=True)
    answered_via = fields.String(
        allow_none=True, validate=validate.OneOf([*AnsweredVia, None]), metadata={"example": "app"}
    )
    snoozed_until = Timestamp(allow_none=True)
    undelivered = fields.Boolean(
        metadata={"description": "No channel delivered the message. Set when the occurrence becomes missed"}
    )
    can_answer = fields.Boolean(
        metadata={"description": "Whether the answer done, with this due_at and slot, would be accepted now"}
    )


@dataclass(frozen=True)
class Days:
    """First and last day, both included, in the time zone of each reminder. `history.span` sets the defaults."""

    start: date | None = None
    end: date | None = None


class SpanSchema(Schema):
    start = Day(
        metadata={
            "example": "2026-03-01",
            "description": "First day, in each reminder's time zone. Default: 29 days before end",
        }
    )
    end = Day(metadata={"example": "2026-03-31", "description": "Last day, included. At most 91 days after start"})

    @validates_schema(skip_on_field_errors=True)
    def check_span(self, data: dict[str, Any], **_: object) -> None:
        start, end = data.get("start"), data.get("end")
        if start is None or end is None:
            return
        if start > end:
            raise ValidationError("tidak boleh sesudah tanggal akhir.", "start")
        if (end - start).days >= MAX_DAYS:
            raise ValidationError(f"maksimal {MAX_DAYS - 1} hari sesudah tanggal mulai.", "end")


class DaysSchema(SpanSchema):
    @post_load
    def to_days(self, data: dict[str, Any], **_: object) -> Days:
        return Days(**data)


@dataclass(frozen=True)
class HistoryQuery:
    """Page and filters of a person's history. If `state` is None, all states except `void` are listed."""

    page: Page
    days: Days
    tipe: str | None
    state: str | None


class HistoryQuerySchema(SpanSchema, PageSchema):
    tipe = fields.String(validate=validate.OneOf(TYPES), metadata=TIPE)
    state = fields.String(
        validate=validate.OneOf(STATES),
        metadata={**STATE, "description": "Default: all except void, which means cancelled"},
    )

    @post_load
    def to_page(self, data: dict[str, Any], **kwargs: object) -> HistoryQuery:
        days = Days(data.pop("start", None), data.pop("end", None))
        tipe, state = data.pop("tipe", None), data.pop("state", None)
        return HistoryQuery(super().to_page(data, **kwargs), days, tipe, state)


class Counts(Schema):
    due = fields.Integer(metadata={"example": 60, "description": "All past occurrences, including pending ones"})
    done = fields.Integer(metadata={"example": 54})
    skipped = fields.Integer(metadata={"example": 2})
    missed = fields.Integer(metadata={"example": 3, "description": "Delivered but not answered"})
    undelivered = fields.Integer(
        metadata={"example": 1, "description": "Not answered, because no channel delivered the message"}
    )


class CountsOfDay(Counts):
    date = Day(metadata={"example": "2026-03-02"})


class CountsOfPengingat(Counts):
    id = fields.Integer(allow_none=True, metadata={"example": 1, "description": "null if the reminder was deleted"})
    judul = fields.String(metadata={"example": "Minum obat diabetes"})
    tipe = fields.String(validate=validate.OneOf(TYPES), metadata={**TIPE, "example": "obat"})


class Adherence(Counts):
    """Counts of a person's occurrences by outcome: in total, by day and by reminder."""

    start = Day(metadata={"example": "2026-03-01"})
    end = Day(metadata={"example": "2026-03-30"})
    percent = fields.Float(
        allow_none=True,
        metadata={
            "example": 91.5,
            "description": "How many percent of done, skipped and missed are done. null if all three are 0",
        },
    )
    days = fields.List(fields.Nested(CountsOfDay))
    reminders = fields.List(fields.Nested(CountsOfPengingat))
