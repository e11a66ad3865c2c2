"""Test message from an operator to a number. It is sent without the outbox, and shows whether the provider works."""

from __future__ import annotations

from app.core.operations.failures import OperatorError
from app.core.settings import settings
from app.identity import phones
from app.notifications.senders import report, sender_status
from app.providers import messaging
from app.providers.http import ProviderError

TEXT = "Ini pesan percobaan dari layanan pengingat kesehatan. Tidak perlu dibalas."

NO_NUMBER = "NUMBER is no phone number of a country in MESSAGING_COUNTRIES."


def send(number: str) -> str:
    """Send the message and return a sentence with the provider's reference. Raise `OperatorError` if it is refused."""
    provider, phone = settings.messaging_provider, phones.normalise(number)
    if phone is None or phones.country_problem(phone):
        raise OperatorError(NO_NUMBER)
    if sender_status.key() is None:
        raise OperatorError(report.NOT_SENT)
    try:
        ref = messaging.client().send(phone, TEXT)
    except ProviderError as error:
        raise OperatorError(f"{provider} refused: {error.words or error.reason}") from None
    return f"{provider} accepted it as {ref or 'no name'}."
