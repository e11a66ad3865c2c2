"""Job that asks the provider for the state of our number, each minute and after an event about the account."""

from __future__ import annotations

import logging

from app.core.jobs.queue import BULK, connection, enqueue_once
from app.core.settings import settings
from app.notifications.models import Inbound
from app.notifications.senders import sender_status
from app.providers import messaging
from app.providers.http import ProviderError

logger = logging.getLogger(__name__)

#: `UNASKED`: Redis key. While the key exists, `check` does not call the provider. `UNASKED_S`: lifetime of the key in
#: seconds.
UNASKED = "sender:unasked"
UNASKED_S = 3600


def ring(event: Inbound) -> str:
    """Enqueue a check, because the provider has reported an event about our account."""
    if event.provider != settings.messaging_provider:
        return "ignored"
    enqueue_once(check, queue=BULK)
    return "noted"


def check() -> None:
    """Ask the provider for the state of our number, and store the state.

    Some servers with the interface of our provider do not support this request. So after a permanent error, do not ask
    again for an hour.
    """
    if sender_status.key() is None or connection().exists(UNASKED):
        return
    try:
        found = messaging.client().health()
    except ProviderError as error:
        logger.warning("the state of the message sender is unknown: %s", error)
        if error.permanent:
            connection().set(UNASKED, 1, ex=UNASKED_S)
        return
    if found is not None:
        sender_status.record_health(found)
