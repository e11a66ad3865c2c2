"""The periodic job that asks the provider how our number is."""

from __future__ import annotations

import logging

from app.core.jobs.queue import connection
from app.notifications.senders import health
from app.providers import messaging
from app.providers.http import ProviderError

logger = logging.getLogger(__name__)

#: The key in Redis that says that the provider has no answer, and how many seconds it lives.
UNASKED = "sender:unasked"
UNASKED_S = 3600


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
