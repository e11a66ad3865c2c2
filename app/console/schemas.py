"""Request and response schemas for operators and features."""

from __future__ import annotations

from marshmallow import Schema, fields

from app.core.web.fields import Boolean, Form, Timestamp, enumeration
from app.notifications.delivery.metrics import SETTLED
from app.notifications.senders.models import SenderState
from app.privacy.schemas import DeliveryPart


class QueueState(Schema):
    queue = fields.String(metadata={"example": "urgent"})
    workers = fields.Integer()
    jobs = fields.Integer(metadata={"description": "Jobs that wait in Redis"})
    due = fields.Integer(metadata={"description": "Deliveries that are due now"})
    oldest_due_s = fields.Float(metadata={"description": "Seconds since the oldest due delivery became due"})


#: Number of delivery attempts by outcome, since the counting began. Clients compute a rate from the numbers of two
#: responses.
Outcomes = Schema.from_dict({state: fields.Integer() for state in SETTLED}, name="DeliveryOutcomes")


class Sender(Schema):
    """Our own number at the messaging provider."""

    provider = fields.String(metadata={"example": "whatsapp_cloud"})
    number = fields.String()
    state = fields.String(metadata={**enumeration("SenderState", SenderState), "example": "up"})
    reason = fields.String(allow_none=True, metadata={"description": "The reason why the state is not `up`"})
    since = Timestamp()
    quality = fields.String(allow_none=True, metadata={"example": "green"})
    limit_24h = fields.Integer(allow_none=True, metadata={"description": "Maximum different recipients in 24 hours"})
    quota = fields.Integer(allow_none=True, metadata={"description": "Prepaid messages that are left"})
    checked_at = Timestamp(allow_none=True)


class Broadcasts(Schema):
    paused = fields.Boolean()
    open = fields.Integer(metadata={"description": "Broadcasts that are not completely sent"})


class BroadcastsUpdate(Form):
    paused = Boolean(required=True)


class Condition(Schema):
    problems = fields.List(
        fields.String(), metadata={"description": "Problems as in `flask worker-health`, empty if there are none"}
    )
    queues = fields.List(fields.Nested(QueueState))
    outcomes = fields.Nested(Outcomes, metadata={"description": "Deliveries of the last hour by state"})
    sender = fields.Nested(Sender, allow_none=True, metadata={"description": "null if no sender is recorded"})
    broadcasts = fields.Nested(Broadcasts)


class DeliveryState(Schema):
    """The state of one delivery to a user, without its text."""

    id = fields.Integer()
    kind = fields.String(metadata={"example": "reminder"})
    due_at = Timestamp()
    channels = fields.List(fields.Nested(DeliveryPart))


class MessagingFeature(Schema):
    two_way = fields.Boolean(metadata={"description": "Whether users can reply to messages"})
    number = fields.String(allow_none=True, metadata={"example": "+6281100000000"})


class Features(Schema):
    """Features that are enabled on this service."""

    captcha_site_key = fields.String(
        allow_none=True, metadata={"description": "For the human verification widget, null if verification is off"}
    )
    vapid_public_key = fields.String(allow_none=True, metadata={"description": "For `pushManager.subscribe`"})
    messaging = fields.Nested(MessagingFeature)
    phone_verification = fields.String(
        metadata={**enumeration("PhoneVerificationMode", ("off", "soft", "required")), "example": "off"}
    )
    console = fields.Boolean(metadata={"description": "Whether the operators' page `/console` is enabled"})
