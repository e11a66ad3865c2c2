"""Handling of webhook events about the sender, which is our own phone number at the provider."""

from __future__ import annotations

from app.core.settings import settings
from app.notifications.models import Inbound
from app.notifications.senders import sender_status
from app.providers import fonnte, whatsapp
from app.providers.messenger import SenderEvent

#: Outcomes of `handle`: the event was stored in the state of our number, or it was ignored.
NOTED, IGNORED = "noted", "ignored"


def handle(event: Inbound) -> str:
    """Update the stored state of the sender from an event. Return `NOTED`, or `IGNORED` if nothing was stored."""
    if event.provider != settings.messaging_provider or not _is_ours(event.payload.get("display_phone_number")):
        return IGNORED
    reader = whatsapp.read_sender_event if event.provider == "whatsapp_cloud" else fonnte.read_sender_event
    change = reader(event.payload)
    if change == SenderEvent():
        return IGNORED
    if change.problem is not None:
        sender_status.stop(change.problem, is_seen=event.provider == "fonnte")
    elif change.is_mended:
        sender_status.start()
    elif change.limit is not None:
        sender_status.limit_reached(change.limit)
    sender_status.record_quality(change.quality, change.limit_24h)
    return NOTED


def _is_ours(number: object) -> bool:
    """Return whether an event is about our number. An event without a number counts as an event about our number."""
    if not isinstance(number, str) or settings.messaging_number is None:
        return True
    return "".join(filter(str.isdigit, number)) == settings.messaging_number.removeprefix("+")
