"""Handlers of incoming events from messaging providers. `app.wiring` creates the handlers.

The Flask app stores the handlers as its extension `inbound_handlers`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.notifications.delivery.receipts import FailedReceipt
from app.notifications.models import InboundHandler, InboundKind


@dataclass(frozen=True)
class InboundHandlers:
    #: Handlers by kind of event. Receipts have no handler here, because `app.notifications.delivery.receipts` handles
    #: them in batches.
    handlers: Mapping[InboundKind, InboundHandler]
    #: Function to call for each message that the provider accepted and that failed later.
    on_failed: FailedReceipt
    #: Function to call with the ids of deliveries that have a new receipt.
    on_changed: Callable[[set[int]], None]
