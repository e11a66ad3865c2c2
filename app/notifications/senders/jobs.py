"""What is looked at by itself: how our number is, once a minute, and whose messages do not arrive."""

from __future__ import annotations

import logging

from app.notifications.senders import health, silence
from app.providers import messaging
from app.providers.http import ProviderError

logger = logging.getLogger(__name__)


def look_for_silence() -> None:
    """Find the numbers at which nothing arrives."""
    silence.look()


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
