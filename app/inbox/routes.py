"""Webhooks of the messaging providers, and the phone number that users can write to.

A provider repeats a webhook until it gets 200. The route therefore only checks the sender and stores the events.
"""

from __future__ import annotations

from flask import Response, request

from app.core.web.blueprint import Blueprint, MessageSchema
from app.identity.access import public
from app.inbox import schemas, service
from app.providers import webhooks

bp = Blueprint("inbox", __name__, description="Webhooks of messaging providers, and the service's number")

#: Maximum bytes of a webhook body. Meta sends up to 3 MB in one body after an outage.
MAX_WEBHOOK_BYTES = 4 * 1024 * 1024

TAKEN = {"message": "Diterima."}


def _body() -> bytes:
    """Return the raw body, because the provider signs it. The size limit applies to any content type."""
    request.max_content_length = MAX_WEBHOOK_BYTES
    return request.get_data()


@bp.get("/webhooks/whatsapp")
@public
@bp.arguments(schemas.Challenge, location="query")
@bp.response(200, {"type": "string"}, content_type="text/plain")
def confirm_whatsapp(data: dict[str, str | None]) -> Response:
    """Confirm the webhook's URL to WhatsApp."""
    return Response(service.challenge(**data), mimetype="text/plain")


@bp.post("/webhooks/whatsapp")
@public
@bp.response(200, MessageSchema)
def receive_whatsapp() -> dict[str, str]:
    """Receive messages, receipts and account events, signed by WhatsApp."""
    service.take_whatsapp(_body(), request.headers.get("X-Hub-Signature-256"))
    return TAKEN


@bp.post("/webhooks/fonnte/<token>/message")
@public
@bp.response(200, MessageSchema)
def receive_fonnte_message(token: str) -> dict[str, str]:
    """Receive a message that a user sent to Fonnte's phone."""
    service.take_fonnte(token, _body(), webhooks.read_fonnte_message)
    return TAKEN


@bp.post("/webhooks/fonnte/<token>/status")
@public
@bp.response(200, MessageSchema)
def receive_fonnte_status(token: str) -> dict[str, str]:
    """Receive the status of a sent message."""
    service.take_fonnte(token, _body(), webhooks.read_fonnte_status)
    return TAKEN


@bp.post("/webhooks/fonnte/<token>/device")
@public
@bp.response(200, MessageSchema)
def receive_fonnte_device(token: str) -> dict[str, str]:
    """Receive the connection state of Fonnte's phone."""
    service.take_fonnte(token, _body(), webhooks.read_fonnte_device)
    return TAKEN


@bp.get("/messaging")
@public
@bp.response(200, schemas.Messaging)
def describe_messaging() -> service.ContactInfo:
    """Return whether users can write to the service, with its number and link."""
    return service.about()
