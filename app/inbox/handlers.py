"""Handlers of incoming events. `app.wiring` creates them, and the app stores them as extension `inbound_handlers`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.notifications.delivery.receipts import FailedReceipt
from app.notifications.models import InboundHandler, InboundKind


@dataclass(frozen=True)
class InboundHandlers:
    #: Handlers by kind. Receipts are handled in batches by `app.notifications.delivery.receipts`.
    handlers: Mapping[InboundKind, InboundHandler]
    #: Called for each message that failed after the provider accepted it.
    failed_receipts: Sequence[FailedReceipt]
