"""Schemas of subscriptions and pushes."""

from __future__ import annotations

import re

from marshmallow import EXCLUDE, Schema, ValidationError, fields

from app.core.web.fields import RecordId, Text, Timestamp
from app.providers import webpush

MAX_ENDPOINT = 2000


def _key(value: str) -> None:
    if not webpush.is_key(value):
        raise ValidationError("isi dengan kunci P-256 (65 byte) dalam base64url.")


def _secret(value: str) -> None:
    if not webpush.is_auth(value):
        raise ValidationError("isi dengan 16 byte dalam base64url.")


def _endpoint(value: str) -> None:
    """Check the form alone. An address that is no known push service is stored, but never called."""
    if not re.fullmatch(r"https?://[!-~]+", value):
        raise ValidationError("isi dengan alamat layanan push.")


class PushKeys(Schema):
    p256dh = Text(
        200,
        required=True,
        rules=[_key],
        example="BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    )
    auth = Text(100, required=True, rules=[_secret], example="BTBZMqHH6r4Tts7J_aSIgg")


class SubscriptionDelete(Schema):
    endpoint = Text(MAX_ENDPOINT, required=True, example="https://push.example.com/send/abc")


class SubscriptionCreate(SubscriptionDelete):
    endpoint = Text(MAX_ENDPOINT, required=True, rules=[_endpoint], example="https://push.example.com/send/abc")
    keys = fields.Nested(PushKeys, required=True, unknown=EXCLUDE)
    user_id = RecordId(
        load_default=None,
        allow_none=True,
        metadata={
            "description": "Claimed owner of the browser. Without a token, the browser gets pushes of `/push/send`, "
            "and reminders and alerts without their text. With a token, the token's owner is used instead",
        },
    )


class Subscription(Schema):
    id = fields.Integer()
    endpoint = fields.String()
    user_id = fields.Integer(allow_none=True)
    is_verified = fields.Boolean(metadata={"description": "Created with the token of its user"})
    created_at = Timestamp()
    updated_at = Timestamp()


class PublicKey(Schema):
    public_key = fields.String(metadata={"description": "VAPID public key, base64url"})


class PushPayload(Schema):
    title = Text(200, required=True, example="Halo")
    body = Text(2700, required=True, example="Ada kabar baru.")
    url = Text(
        1000,
        load_default=None,
        allow_none=True,
        metadata={"description": "A path, or an address of the front end"},
        example="/forum/5",
    )


class PushCreate(Schema):
    user_id = RecordId(required=True)
    payload = fields.Nested(PushPayload, required=True, unknown=EXCLUDE)


class PushResult(Schema):
    sent = fields.Integer()
    failed = fields.Integer()
    removed = fields.Integer()
    queued = fields.Integer(metadata={"description": "Number of subscriptions that the worker sends to"})
