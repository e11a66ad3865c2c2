"""What operators see and say, and what a client asks before it begins."""

from __future__ import annotations

from marshmallow import Schema, fields

from app.core.web.fields import Form, Timestamp, enumeration
from app.notifications.delivery.drain import OUTCOMES
from app.notifications.senders.models import SenderState
from app.privacy.schemas import DeliveryPart


class QueueState(Schema):
    queue = fields.String(metadata={"example": "urgent"})
    workers = fields.Integer()
    jobs = fields.Integer(metadata={"description": "Jobs that wait"})
    due = fields.Integer(metadata={"description": "Deliveries that are due now"})
    oldest_due_s = fields.Float(metadata={"description": "Seconds that the oldest of them has been due"})


#: Attempts since the counting began; what changes between two looks is the rate.
Outcomes = Schema.from_dict({name: fields.Integer() for name in OUTCOMES}, name="DeliveryOutcomes")


class Sender(Schema):
    """Our own number at the provider of messages."""

    provider = fields.String(metadata={"example": "whatsapp_cloud"})
    number = fields.String()
    state = fields.String(metadata={**enumeration("SenderState", SenderState), "example": "up"})
    reason = fields.String(allow_none=True, metadata={"description": "Why it is not up"})
    since = Timestamp()
    quality = fields.String(allow_none=True, metadata={"example": "green"})
    limit_24h = fields.Integer(allow_none=True, metadata={"description": "Different people in 24 hours"})
    quota = fields.Integer(allow_none=True, metadata={"description": "Messages that are paid for"})
    checked_at = Timestamp(allow_none=True)


class Broadcasts(Schema):
    paused = fields.Boolean()
    reason = fields.String(allow_none=True, metadata={"description": "Why they paused by themselves"})
    open = fields.Integer(metadata={"description": "Broadcasts that are not out yet"})


class BroadcastsUpdate(Form):
    paused = fields.Boolean(required=True)


class Condition(Schema):
    problems = fields.List(
        fields.String(), metadata={"description": "As `flask worker-health` says them; empty: all is well"}
    )
    queues = fields.List(fields.Nested(QueueState))
    outcomes = fields.Nested(Outcomes, allow_none=True)
    sender = fields.Nested(Sender, allow_none=True, metadata={"description": "null while nothing is known of one"})
    broadcasts = fields.Nested(Broadcasts)


class DeliveryState(Schema):
    """What became of one thing that was sent to somebody, without what it says."""

    id = fields.Integer()
    kind = fields.String(metadata={"example": "reminder"})
    due_at = Timestamp()
    channels = fields.List(fields.Nested(DeliveryPart))


class MessagingFeature(Schema):
    two_way = fields.Boolean(metadata={"description": "Whether people can answer messages"})
    number = fields.String(allow_none=True, metadata={"example": "+6281100000000"})


class Features(Schema):
    """What is switched on here."""

    captcha_site_key = fields.String(
        allow_none=True, metadata={"description": "For the widget of the human verification; null: none is asked for"}
    )
    vapid_public_key = fields.String(allow_none=True, metadata={"description": "For `pushManager.subscribe`"})
    messaging = fields.Nested(MessagingFeature)
    phone_verification = fields.String(
        metadata={**enumeration("PhoneVerificationMode", ("off", "soft", "required")), "example": "off"}
    )
    grouping = fields.Boolean(metadata={"description": "Whether reminders of one minute leave as one message"})
    console = fields.Boolean(metadata={"description": "Whether there is a page for operators at `/console`"})
