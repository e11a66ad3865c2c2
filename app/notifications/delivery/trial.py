"""Test message from an operator to a number. It is sent without the outbox, and shows whether the provider works."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic, sleep

import sqlalchemy as sa

from app.core.database.session import autocommit
from app.core.settings import settings
from app.notifications.delivery import message_format
from app.notifications.delivery.receipts import RANKS
from app.notifications.delivery.sealing import Words
from app.notifications.models import SECURITY_NOTICE, InboundKind, Receipt, inbound
from app.notifications.senders.models import phone_numbers
from app.providers import messaging

TEXT = "Ini pesan percobaan dari layanan pengingat kesehatan. Tidak perlu dibalas."

NEEDS_TEMPLATE = (
    "This number has not written to us for 24 hours, and WHATSAPP_TEMPLATES names no template that can say it."
    " Write to our number from this phone first, or name a template."
)

#: Kinds whose template can contain the test text. The first kind with a configured template is used.
KINDS = (SECURITY_NOTICE, "broadcast", "alert", "stock", "reminder")

#: Kinds whose template starts with a greeting and a name.
GREETING = ("stock", "reminder")

#: Seconds to wait for receipts, and seconds between two queries for them.
WAIT_S, POLL_S = 30.0, 0.5

_is_open = sa.select(phone_numbers.c.last_inbound_at > sa.func.statement_timestamp() - message_format.OPEN_FOR)


def form_for(phone: str) -> message_format.MessageFormat:
    """Return the test message as free text or as a template.

    Raise `NeedsTemplateError` if a template is needed and none is configured.
    """
    with autocommit() as connection:
        is_open = bool(connection.scalar(_is_open.where(phone_numbers.c.phone == phone)))
    kind = next(filter(message_format.template_name, KINDS), KINDS[0])
    words: Words = {"text": TEXT, "parts": {"name": ""} if kind in GREETING else {}}
    return message_format.format_of(kind, words, is_open=is_open)


def send(phone: str, form: message_format.MessageFormat) -> str | None:
    """Send the message to an E.164 number and return the provider's reference. Raise `ProviderError`."""
    return messaging.client().send(phone, form.text, template=form.template)


def receipts(ref: str) -> Iterator[tuple[Receipt, str | None]]:
    """Yield each new receipt and its error code, if the receipt has a higher rank than all earlier receipts.

    Stop after a receipt of rank `FAILED` or higher, or after `WAIT_S` seconds.
    """
    rows = inbound.c
    query = sa.select(rows.payload).where(
        rows.provider == settings.messaging_provider, rows.kind == InboundKind.RECEIPT, rows.ref == ref
    )
    furthest, ends = -1, monotonic() + WAIT_S
    while furthest < RANKS[Receipt.FAILED] and monotonic() < ends:
        with autocommit() as connection:
            payloads = connection.scalars(query).all()
        for payload in sorted(payloads, key=_rank):
            if _rank(payload) > furthest:
                furthest = _rank(payload)
                code = payload.get("code")
                yield Receipt(str(payload["receipt"])), str(code) if code else None
        sleep(POLL_S)


def _rank(payload: dict[str, object]) -> int:
    return RANKS[Receipt(str(payload["receipt"]))]
