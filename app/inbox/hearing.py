"""Who hears what came in; `app.wiring` fills it in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flask import Flask, current_app

from app.notifications.delivery.receipts import FailedReceipt
from app.notifications.models import Heard, InboundHandler


@dataclass(frozen=True)
class Hearing:
    #: By kind; receipts are handled in batches, see `app.notifications.delivery.receipts`.
    handlers: Mapping[Heard, InboundHandler]
    #: Told of each message that failed after it was accepted.
    failed_receipts: Sequence[FailedReceipt]


def init_app(app: Flask, hearing: Hearing) -> None:
    app.extensions["hearing"] = hearing


def hearing() -> Hearing:
    """That of the present application."""
    hearing: Hearing = current_app.extensions["hearing"]
    return hearing
