"""Recall of expired messages that Fonnte accepted but has not sent yet.

Fonnte sends messages through our phone. While the phone is off, Fonnte keeps accepted messages for up to 7 days. When
the phone is on again, Fonnte sends all of them. A reminder that arrives so late would mislead the recipient. The
delivery of an accepted message has the state `sent`. The recall changes the state to `missed`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.core.jobs.queue import QUEUES
from app.core.settings import settings
from app.notifications.models import Channel, DeliveryState, Receipt, deliveries
from app.notifications.senders import sender_status
from app.notifications.senders.models import SenderState
from app.providers import messaging
from app.providers.http import ProviderError

logger = logging.getLogger(__name__)

#: Maximum number of deliveries that one job takes back.
BATCH = 200
#: With receipts, an expired message is taken back if Fonnte accepted it within this time, and no receipt has reported
#: that Fonnte sent it. Without receipts, expired messages are taken back while our phone is off.
RECEIPT_WITHIN = timedelta(hours=3)
#: Values of `last_error` after an attempt to take a message back: Fonnte had already sent it, or Fonnte deleted it.
TOO_LATE = "could not be taken back"
TAKEN_BACK = "taken back"

_rows = deliveries.c
_now = sa.func.statement_timestamp()
#: Time that may pass until we notice that our phone is off. Fonnte may keep what it accepted in this time.
UNNOTICED = timedelta(minutes=2)


def list_held() -> Sequence[str]:
    """Return the provider's references of expired messages that Fonnte may not have sent yet."""
    if settings.messaging_provider != "fonnte":
        return []
    if settings.fonnte_webhook_token:
        since = _now - RECEIPT_WITHIN
    else:
        sender = sender_status.current()
        if sender is None or sender.state != SenderState.DOWN:
            return []
        since = sa.literal(sender.since - UNNOTICED)
    refs = (
        sa.select(_rows.provider_ref)
        .where(
            _rows.queue.in_(QUEUES),
            _rows.channel == Channel.MESSAGING,
            _rows.state == DeliveryState.SENT,
            _rows.settled_at >= since,
            _rows.expires_at <= _now,
            _rows.provider_ref.is_not(None),
            sa.func.coalesce(_rows.receipt, Receipt.ACCEPTED) == Receipt.ACCEPTED,
            _rows.last_error.is_(None),
        )
        .order_by(_rows.settled_at)
        .limit(BATCH)
    )
    return list(dict.fromkeys(db.session.execute(refs).scalars()))


def cancel(ref: str) -> bool | None:
    """Take a message back. Return False if it had already been sent, or None after an error of the provider."""
    try:
        return messaging.client().cancel(ref)
    except ProviderError as error:
        logger.warning("a message could not be recalled: %s", error)
        return None


def record(ref: str, *, is_taken_back: bool) -> list[int]:
    """Record in the deliveries of this message whether it was taken back. If so, return the ids of the deliveries."""
    values = {"state": DeliveryState.MISSED, "last_error": TAKEN_BACK} if is_taken_back else {"last_error": TOO_LATE}
    statement = (
        sa.update(deliveries)
        .where(_rows.provider_ref == ref, _rows.state == DeliveryState.SENT)
        .values(values)
        .returning(_rows.id)
    )
    ids = list(db.session.scalars(statement))
    return ids if is_taken_back else []
