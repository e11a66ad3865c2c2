"""Webhooks of messaging providers: check the sender, store the events, and enqueue the job that handles them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypedDict

import orjson
import sqlalchemy as sa

from app.core.database.session import db
from app.core.errors import BadRequest, Forbidden, NotFound
from app.core.jobs.queue import enqueue_once
from app.core.settings import settings
from app.forum.service import crisis
from app.inbox import jobs
from app.notifications.models import InboundKind
from app.providers import webhooks
from app.providers.webhooks import WebhookEvent

#: Maximum number of characters that are stored of a message.
MAX_TEXT = 1000

NOT_FOUND = "Alamat tidak ditemukan."
NOT_PROVEN = "Asal data ini tidak terbukti."

Reader = Callable[[object], Iterator[WebhookEvent]]


class ContactInfo(TypedDict):
    """The phone number that users can write to, and a link that opens a chat with it."""

    two_way: bool
    number: str | None
    link: str | None


#: Statement that inserts all events of a request body. The events are one JSON parameter, so that the SQL text is the
#: same for any number of events.
_store = sa.text(
    """
        INSERT INTO inbound (provider, event_key, kind, phone, text, ref, payload)
        SELECT provider, key, kind, phone, text, ref, payload FROM jsonb_to_recordset(CAST(:events AS jsonb))
            AS events (provider text, key text, kind text, phone text, text text, ref text, payload jsonb)
        ON CONFLICT (event_key) DO NOTHING
        RETURNING kind
        """
)


def challenge(mode: str | None, token: str | None, text: str | None) -> str:
    """Return the text that WhatsApp expects when it verifies the webhook's URL."""
    if settings.whatsapp_verify_token is None:
        raise NotFound(NOT_FOUND, code="route_not_found")
    if mode != "subscribe" or not webhooks.is_same(settings.whatsapp_verify_token, token):
        raise Forbidden(NOT_PROVEN)
    return text or ""


def take_whatsapp(body: bytes, signature: str | None) -> None:
    """Check WhatsApp's signature of a request body, and store the events of the body."""
    if settings.whatsapp_app_secret is None:
        raise NotFound(NOT_FOUND, code="route_not_found")
    if not webhooks.is_signed(body, signature, settings.whatsapp_app_secret):
        raise Forbidden(NOT_PROVEN)
    keep(webhooks.read_whatsapp(_parsed(body), settings.messaging_sender_id))


def take_fonnte(token: str, body: bytes, read: Reader) -> None:
    """Check the token in the URL of a request from Fonnte, and store the events of its body."""
    if settings.fonnte_webhook_token is None or not webhooks.is_same(settings.fonnte_webhook_token, token):
        raise NotFound(NOT_FOUND, code="route_not_found")
    keep(read(_parsed(body)))


def keep(events: Iterable[WebhookEvent]) -> None:
    """Insert the new events in one statement. Enqueue the job that handles them, unless all new events are receipts."""
    rows = [_row(event) for event in events]
    if not rows:
        return
    kinds = db.session.execute(_store, {"events": orjson.dumps(rows).decode()}).all()
    # Receipts are not urgent. The scheduler enqueues the job for them within a second.
    if any(kind != InboundKind.RECEIPT for (kind,) in kinds):
        enqueue_once(jobs.handle)


def _row(event: WebhookEvent) -> dict[str, object]:
    """Return the column values of an event. Check a long text for a crisis or an emergency before it is shortened."""
    if event.text is None or len(event.text) <= MAX_TEXT:
        return vars(event)
    danger = crisis.kind_of(event.text)
    payload = {**event.payload, **({"danger": danger} if danger else {})}
    return {**vars(event), "text": event.text[:MAX_TEXT], "payload": payload}


def about() -> ContactInfo:
    """Return whether users can write to us, with our phone number and a chat link."""
    number = settings.messaging_number
    two_way = number is not None and settings.receives_messages
    return {"two_way": two_way, "number": number, "link": f"https://wa.me/{number[1:]}" if number else None}


def _parsed(body: bytes) -> object:
    try:
        return webhooks.parse(body)
    except ValueError:
        raise BadRequest("JSON tidak valid.", code="invalid_json") from None
