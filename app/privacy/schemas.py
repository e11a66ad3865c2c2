"""Schemas of a person's own settings, deliveries, devices, consents, and accesses by others."""

from __future__ import annotations

from datetime import time
from enum import StrEnum

from marshmallow import EXCLUDE, Schema, ValidationError, fields, post_load, validate, validates_schema

from app.core.web.fields import Boolean, Timestamp, enumeration
from app.identity import access_log
from app.identity.consents import ConsentSource, Purpose


class Status(StrEnum):
    """Status of a delivery on one channel. The most advanced status comes first."""

    READ = "read"
    DELIVERED = "delivered"
    SENT = "sent"
    #: The delivery is not sent yet.
    WAITING = "waiting"
    FAILED = "failed"
    #: The delivery expired before it was sent.
    LATE = "late"
    CANCELLED = "cancelled"


class HourMinute(fields.String):
    """A time of day as `HH:MM`."""

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
    def to_times(self, data: dict[str, str], **_: object) -> dict[str, time]:
        return {"start": time.fromisoformat(data["start"]), "end": time.fromisoformat(data["end"])}


class NotificationSettings(Schema):
    """The channels and times by which the caller wants to be notified."""

    messages = Boolean(metadata={"description": "Whether the phone number gets messages"})
    push = Boolean(metadata={"description": "Whether browsers get pushes"})
    quiet_hours = fields.Nested(
        QuietHoursSchema,
        allow_none=True,
        metadata={
            "description": "Times of day in the time zone of the domicile. An `end` before `start` is on the next day. "
            "Reminders, password resets and security notices ignore quiet hours. News waits until they end"
        },
    )
    broadcasts = Boolean(
        metadata={"description": "Whether news is sent. Same value as `preferences.broadcast` and the consent"}
    )


class NotificationSettingsUpdate(NotificationSettings):
    """The settings to change.

    Missing settings stay unchanged. The OpenAPI document marks the fields as required in the response, but not in
    this request.
    """


class DeliveryPart(Schema):
    """The result of a delivery on one channel: message or push."""

    channel = fields.String(metadata={**enumeration("DeliveryChannel", ("message", "push")), "example": "message"})
    status = fields.String(metadata={**enumeration("DeliveryStatus", Status), "example": "delivered"})
    at = Timestamp(allow_none=True, metadata={"description": "Time of the status. null while pending"})
    reason = fields.String(
        allow_none=True,
        metadata={
            "example": "Nomor HP Anda sudah diganti sebelum pesan ini terkirim.",
            "description": "Text to show to the user",
        },
    )


class Delivery(Schema):
    """One past or pending delivery: a reminder, a reply or news."""

    id = fields.Integer(metadata={"example": 1})
    title = fields.String(metadata={"example": "Pengingat: Obat diabetes"})
    due_at = Timestamp()
    channels = fields.List(fields.Nested(DeliveryPart))


class Device(Schema):
    """A device on which the caller is logged in."""

    id = fields.UUID()
    name = fields.String(metadata={"example": "Chrome di Android"})
    created_at = Timestamp()
    last_used_at = Timestamp(metadata={"description": "Time of the last refresh of the access token"})
    current = fields.Boolean(metadata={"description": "Whether this is the session of the request"})
    notifications = fields.Boolean(metadata={"description": "Whether a browser on this device gets pushes"})


class Access(Schema):
    """One access by another person to the caller's data."""

    at = Timestamp()
    who = fields.String(metadata={"example": "Budi Santoso", "description": "A caregiver's name, or the role"})
    action = fields.String(metadata={**enumeration("AccessAction", access_log.AccessAction), "example": "history_read"})
    reason = fields.String(
        metadata={
            "example": "Riwayat pengingat Anda dibuka dengan izin Anda.",
            "description": "Text to show to the user",
        }
    )


class Consent(Schema):
    """The caller's consent for one purpose."""

    purpose = fields.String(metadata={**enumeration("ConsentPurpose", Purpose), "example": "health_data"})
    granted = fields.Boolean()
    version = fields.String(
        allow_none=True, metadata={"example": "1", "description": "Version of the consent text. null if never asked"}
    )
    at = Timestamp(allow_none=True)
    way = fields.String(
        allow_none=True, metadata={**enumeration("ConsentWay", ConsentSource), "example": "registration"}
    )
