"""Messages that come back: the webhooks of the messaging providers, and where people can write to us.

A webhook is told of again until it answers 200, so it does no more than it must: a proof of origin, and one INSERT.
"""

from __future__ import annotations

from http import HTTPStatus

from flask import Response, request

from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.parsing import MAX_JSON_BYTES
from app.identity.access import public
from app.inbox import schemas, service
from app.providers import webhooks

bp = Blueprint("inbox", __name__, description="What messaging providers tell us, and where people write to us")

TAKEN = {"message": "Diterima."}


def _body() -> bytes:
    """The bytes as they came, which is what is signed; not more than of any JSON, whatever they call themselves."""
    request.max_content_length = MAX_JSON_BYTES
    return request.get_data()


@bp.get("/webhooks/whatsapp")
@public
@bp.arguments(schemas.Challenge, location="query")
@bp.response(200, {"type": "string"}, content_type="text/plain")
@bp.alt_response(403, "FORBIDDEN")
@bp.alt_response(404, "NOT_FOUND")
def confirm_whatsapp(data: dict[str, str | None]) -> Response:
    """Show WhatsApp that this address is ours."""
    return Response(service.challenge(**data), mimetype="text/plain")


@bp.post("/webhooks/whatsapp")
@public
@bp.response(200, MessageSchema)
@bp.alt_response(403, "FORBIDDEN")
@bp.alt_response(404, "NOT_FOUND")
@bp.alt_response(413, HTTPStatus.REQUEST_ENTITY_TOO_LARGE.name)
def receive_whatsapp() -> dict[str, str]:
    """Take in messages, receipts and news of our account, signed by WhatsApp."""
    service.take_whatsapp(_body(), request.headers.get("X-Hub-Signature-256"))
    return TAKEN


@bp.post("/webhooks/fonnte/<token>/message")
@public
@bp.response(200, MessageSchema)
@bp.alt_response(403, "FORBIDDEN")
@bp.alt_response(413, HTTPStatus.REQUEST_ENTITY_TOO_LARGE.name)
def receive_fonnte_message(token: str) -> dict[str, str]:
    """Take in what somebody wrote to Fonnte's phone."""
    service.take_fonnte(token, _body(), webhooks.read_fonnte_message)
    return TAKEN


@bp.post("/webhooks/fonnte/<token>/status")
@public
@bp.response(200, MessageSchema)
@bp.alt_response(403, "FORBIDDEN")
@bp.alt_response(413, HTTPStatus.REQUEST_ENTITY_TOO_LARGE.name)
def receive_fonnte_status(token: str) -> dict[str, str]:
    """Take in what became of a message."""
    service.take_fonnte(token, _body(), webhooks.read_fonnte_status)
    return TAKEN


@bp.post("/webhooks/fonnte/<token>/device")
@public
@bp.response(200, MessageSchema)
@bp.alt_response(403, "FORBIDDEN")
@bp.alt_response(413, HTTPStatus.REQUEST_ENTITY_TOO_LARGE.name)
def receive_fonnte_device(token: str) -> dict[str, str]:
    """Take in whether Fonnte's phone is connected."""
    service.take_fonnte(token, _body(), webhooks.read_fonnte_device)
    return TAKEN


@bp.get("/messaging")
@public
@bp.response(200, schemas.Messaging)
def describe_messaging() -> service.About:
    """Whether people can write to us, and where."""
    return service.about()
