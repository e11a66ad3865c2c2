"""Bodies of webhooks, as the providers send them."""

from __future__ import annotations

import hashlib
import hmac
import json
from itertools import count
from typing import Any

from werkzeug.test import TestResponse

from tests.helpers.client import Client
from tests.inbox.phones import APP_SECRET, FONNTE_TOKEN

_numbers = count(1)


def whatsapp(*changes: dict[str, Any]) -> dict[str, Any]:
    entry = {"id": "1", "time": 1749416383, "changes": list(changes)}
    return {"object": "whatsapp_business_account", "entry": [entry]}


def heard(**value: Any) -> dict[str, Any]:
    """A change of the field that tells of messages."""
    return {"field": "messages", "value": {"metadata": {"phone_number_id": "100200300400"}, **value}}


def message(text: str = "SUDAH", *, sender: str = "6281200000001", ref: str | None = None) -> dict[str, Any]:
    ref = ref or f"wamid.in.{next(_numbers)}"
    return {"from": sender, "id": ref, "timestamp": "1749416383", "type": "text", "text": {"body": text}}


def status(told: str = "delivered", *, ref: str = "wamid.1", **more: Any) -> dict[str, Any]:
    return {"id": ref, "status": told, "timestamp": "1749416383", "recipient_id": "6281200000001", **more}


def sign(body: bytes, secret: str = APP_SECRET) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def post_whatsapp(client: Client, body: Any, **headers: str) -> TestResponse:
    """Post a body with its signature, or with other headers."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return client.post(
        "/webhooks/whatsapp",
        data=raw,
        content_type="application/json",
        headers={"X-Hub-Signature-256": sign(raw), **headers},
    )


def post_fonnte(client: Client, event: str, body: Any, token: str = FONNTE_TOKEN) -> TestResponse:
    return client.post(f"/webhooks/fonnte/{token}/{event}", body)


def fonnte_message(text: str = "SUDAH", *, sender: str = "6281200000001", **more: Any) -> dict[str, Any]:
    return {
        "device": "6281100000000", "sender": sender, "message": text, "name": "Siti", "timestamp": 1749416383,
        "inboxid": next(_numbers), **more,
    }  # fmt: skip
