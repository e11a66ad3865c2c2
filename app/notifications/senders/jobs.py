"""What is looked at by itself: how our number is, once a minute, and whose messages do not arrive."""

from __future__ import annotations

import logging

from app.core.jobs.queue import connection
from app.notifications.senders import health, silence
from app.providers import messaging
from app.providers.http import ProviderError

logger = logging.getLogger(__name__)

#: The key in Redis that says that the provider has no answer, and how many seconds it lives.
UNASKED = "sender:unasked"
UNASKED_S = 3600


def look_for_silence() -> None:
    """Find the numbers at which nothing arrives."""
    silence.look()


def check() -> None:
    """Ask, and note the answer; one that says nothing changes nothing.

    A provider that does not know the question, as one that is compatible with another may not, is left alone for an
    hour.
    """
    if health.key() is None or connection().exists(UNASKED):
        return
    try:
        found = messaging.client().health()
    except ProviderError as error:
        logger.warning("how the sender of messages is cannot be told: %s", error)
        if error.permanent:
            connection().set(UNASKED, 1, ex=UNASKED_S)
        return
    if found is not None:
        health.note(found)
