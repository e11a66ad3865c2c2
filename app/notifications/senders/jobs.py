"""Periodic job that asks the provider for the state of our number."""

from __future__ import annotations

import logging

from app.core.jobs.queue import connection
from app.notifications.senders import sender_status
from app.providers import messaging
from app.providers.http import ProviderError

logger = logging.getLogger(__name__)

#: Redis key that exists while the provider cannot answer, and its lifetime in seconds.
UNASKED = "sender:unasked"
UNASKED_S = 3600


def check() -> None:
    """Ask the provider and store the answer. An empty answer changes nothing.

    Some providers with a compatible interface do not support the question. They are asked again after an hour.
    """
    if sender_status.key() is None or connection().exists(UNASKED):
        return
    try:
        found = messaging.client().health()
    except ProviderError as error:
        logger.warning("how the sender of messages is cannot be told: %s", error)
        if error.permanent:
            connection().set(UNASKED, 1, ex=UNASKED_S)
        return
    if found is not None:
        sender_status.record_health(found)
