"""Who hears what came in. `app.wiring` fills it in, and the application holds it as `hearing`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.notifications.delivery.receipts import FailedReceipt
from app.notifications.models import Heard, InboundHandler


@dataclass(frozen=True)
class Hearing:
    #: By kind; receipts are handled in batches, see `app.notifications.delivery.receipts`.
    handlers: Mapping[Heard, InboundHandler]
    #: Told of each message that failed after it was accepted.
    failed_receipts: Sequence[FailedReceipt]
