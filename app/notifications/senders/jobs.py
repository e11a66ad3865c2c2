"""The check of every minute: the provider is asked how our number is."""

from __future__ import annotations

import logging

from app.notifications.senders import health
from app.providers import messaging
from app.providers.http import ProviderError

logger = logging.getLogger(__name__)


def check() -> None:
    """Ask, and note the answer; one that says nothing changes nothing."""
    if health.key() is None:
        return
    try:
        found = messaging.client().health()
    except ProviderError as error:
        logger.warning("how the sender of messages is cannot be told: %s", error)
        return
    if found is not None:
        health.note(found)
