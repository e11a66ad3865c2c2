"""What people see and say of their own data."""

from __future__ import annotations

from datetime import time
from enum import StrEnum
from typing import TypedDict

from marshmallow import EXCLUDE, Schema, ValidationError, fields, post_load, validate, validates_schema

from app.core.web.fields import Timestamp, enumeration
from app.identity import access_log
from app.identity.consents import Purpose, Way


class Status(StrEnum):
    """What became of a channel's part, the furthest first."""

    READ = "read"
    DELIVERED = "delivered"
    SENT = "sent"
    #: Still to come.
    WAITING = "waiting"
    FAILED = "failed"
    #: Not sent before it was of no use any more.
    LATE = "late"
    CANCELLED = "cancelled"


class QuietHours(TypedDict):
    start: time
    end: time


class HourMinute(fields.String):
    """`HH:MM`, a time of day, in and out."""

    def __init__(self, *, example: str) -> None:
        super().__init__(
            required=True,
            validate=validate.Regexp(r"([01][0-9]|2[0-3]):[0-5][0-9]\Z", error="tulis seperti 07:30."),
            metadata={"example": example, "description": "HH:MM"},
        )

    def _serialize(self, value: time | None, *_: object, **__: object) -> str | None:  # type: ignore[override]
        return f"{value:%H:%M}" if value else None


class QuietHoursSchema(Schema):
    class Meta:
        unknown = EXCLUDE

    start = HourMinute(example="22:00")
    end = HourMinute(example="05:00")

    @validates_schema
    def check_ends(self, data: dict[str, object], **_: object) -> None:
        if data["start"] == data["end"]:
            raise ValidationError("harus berbeda dari jam mulai.", "end")

    @post_load
    def to_times(self, data: dict[str, str], **_: object) -> QuietHours:
        return {"start": time.fromisoformat(data["start"]), "end": time.fromisoformat(data["end"])}


class NotificationSettings(Schema):
    """How the caller is reached. A PUT takes what GET gives; what it leaves out stays."""

    messages = fields.Boolean(metadata={"description": "Whether messages to the phone number come"})
    push = fields.Boolean(metadata={"description": "Whether pushes to browsers come"})
    quiet_hours = fields.Nested(
        QuietHoursSchema,
        allow_none=True,
        metadata={
            "description": "Times of day in the zone of the domicile; an `end` before `start` is of the next day. "
            "Reminders, password resets and security notices come at any hour; news waits for the end"
        },
    )
    broadcasts = fields.Boolean(
        metadata={"description": "Whether news come; one value with `preferences.broadcast` and the consent"}
    )


class DeliveryPart(Schema):
    """What became of one channel's part of a delivery."""

    channel = fields.String(metadata={**enumeration("DeliveryChannel", ("message", "push")), "example": "message"})
    status = fields.String(metadata={**enumeration("DeliveryStatus", Status), "example": "delivered"})
    at = Timestamp(allow_none=True, metadata={"description": "Since when; null while it is still to come"})
    reason = fields.String(
        allow_none=True,
        metadata={"example": "Nomor HP Anda sudah diganti sebelum pesan ini terkirim.", "description": "For a person"},
    )


class Delivery(Schema):
    """One thing that was or will be sent: a reminder, a reply, news."""

    id = fields.Integer(metadata={"example": 1})
    title = fields.String(metadata={"example": "Pengingat: Obat diabetes"})
    due_at = Timestamp()
    channels = fields.List(fields.Nested(DeliveryPart))


class Device(Schema):
    """Where the caller is signed in."""

    id = fields.UUID()
    name = fields.String(metadata={"example": "Chrome di Android"})
    created_at = Timestamp()
    last_used_at = Timestamp(metadata={"description": "When the access token was last refreshed"})
    current = fields.Boolean(metadata={"description": "Whether it is the session of this request"})
    notifications = fields.Boolean(metadata={"description": "Whether pushes come to a browser on this device"})


class Access(Schema):
    """One look of somebody else at what is the caller's."""

    at = Timestamp()
    who = fields.String(metadata={"example": "Budi Santoso", "description": "A caregiver's name, or what they are"})
    action = fields.String(metadata={**enumeration("AccessAction", access_log.Action), "example": "history_read"})
    reason = fields.String(
        metadata={"example": "Riwayat pengingat Anda dibuka dengan izin Anda.", "description": "For a person"}
    )


class Consent(Schema):
    """What the caller said of one purpose."""

    purpose = fields.String(metadata={**enumeration("ConsentPurpose", Purpose), "example": "health_data"})
    granted = fields.Boolean()
    version = fields.String(
        allow_none=True, metadata={"example": "1", "description": "Of the text agreed to; null: never asked"}
    )
    at = Timestamp(allow_none=True)
    way = fields.String(allow_none=True, metadata={**enumeration("ConsentWay", Way), "example": "registration"})
