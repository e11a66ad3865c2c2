"""Test message from an operator to a number. It is sent without the outbox, and shows whether the provider works."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import db
from app.core.operations.failures import OperatorError
from app.core.settings import settings
from app.identity import phones
from app.notifications.delivery import message_format
from app.notifications.delivery.sealing import Words
from app.notifications.models import SECURITY_NOTICE
from app.notifications.senders import report, sender_status
from app.notifications.senders.models import phone_numbers
from app.providers import messaging
from app.providers.http import ProviderError

TEXT = "Ini pesan percobaan dari layanan pengingat kesehatan. Tidak perlu dibalas."

NO_NUMBER = "NUMBER is no phone number of a country in MESSAGING_COUNTRIES."
NEEDS_TEMPLATE = (
    "This number has not written to us for 24 hours, and WHATSAPP_TEMPLATES names no template that can say it."
    " Write to our number from this phone first, or name a template."
)

#: Kinds whose template can contain the test text. The first kind with a configured template is used.
KINDS = (SECURITY_NOTICE, "broadcast", "alert", "stock", "reminder")

#: Kinds whose template starts with a greeting and a name.
GREETING = ("stock", "reminder")

_is_open = sa.select(phone_numbers.c.last_inbound_at > sa.func.statement_timestamp() - message_format.OPEN_FOR)


def send(number: str) -> str:
    """Send the message and return a sentence with the provider's reference. Raise `OperatorError` if it is refused."""
    provider, phone = settings.messaging_provider, phones.normalise(number)
    if phone is None or phones.country_problem(phone):
        raise OperatorError(NO_NUMBER)
    if sender_status.key() is None:
        raise OperatorError(report.NOT_SENT)
    try:
        form = _format(phone)
        ref = messaging.client().send(phone, form.text, template=form.template)
    except message_format.NeedsTemplateError:
        raise OperatorError(NEEDS_TEMPLATE) from None
    except ProviderError as error:
        raise OperatorError(f"{provider} refused: {error.words or error.reason}") from None
    template = f", as the template {form.template.name}" if form.template else ""
    return f"{provider} accepted it as {ref or 'no name'}{template}."


def _format(phone: str) -> message_format.MessageFormat:
    is_open = bool(db.session.scalar(_is_open.where(phone_numbers.c.phone == phone)))
    kind = next(filter(message_format.template_name, KINDS), KINDS[0])
    words: Words = {"text": TEXT, "parts": {"name": ""} if kind in GREETING else {}}
    return message_format.format_of(kind, words, is_open=is_open)
