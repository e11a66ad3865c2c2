"""Schemas of WhatsApp's webhook verification and of the service's phone number."""

from __future__ import annotations

from marshmallow import Schema, fields

from app.core.web.fields import Text


class Challenge(Schema):
    mode = Text(50, data_key="hub.mode", load_default=None, example="subscribe")
    token = Text(500, data_key="hub.verify_token", load_default=None, example="rahasia")
    text = Text(500, data_key="hub.challenge", load_default=None, example="1158201444")


class Messaging(Schema):
    two_way = fields.Boolean(required=True, metadata={"description": "Whether the service receives messages"})
    number = fields.String(required=True, allow_none=True, metadata={"example": "+6281234567890"})
    link = fields.String(
        required=True, allow_none=True, metadata={"format": "uri", "example": "https://wa.me/6281234567890"}
    )
