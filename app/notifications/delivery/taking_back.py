"""Messages that the provider has and has not sent: past their time they are taken back, for a late reminder misleads.

Fonnte drives a phone. While that is off it keeps what it accepted, for up to 7 days, and sends all of it when the phone
is back. Such a row is `sent`; taken back it is `missed`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta

import sqlalchemy as sa

from app.core.database.session import autocommit, db
from app.core.jobs.queue import QUEUES
from app.core.settings import settings
from app.notifications.models import Channel, Receipt, State, deliveries
from app.notifications.senders.models import SenderState, senders
from app.providers import messaging
from app.providers.http import ProviderError

logger = logging.getLogger(__name__)

#: Rows of one job.
BATCH = 200
#: So long after it was accepted a receipt would have told that a message was sent.
TOLD_WITHIN = timedelta(hours=3)
#: What is noted of a message that the provider no longer had to give back.
TOO_LATE = "could not be taken back"
TAKEN_BACK = "taken back"

_rows = deliveries.c
_now = sa.func.statement_timestamp()
#: From when on accepted messages may be held: since our phone has been off, or where receipts tell, for some hours.
_held_since = (
    sa.select(sa.func.min(senders.c.held_since))
    .where(senders.c.provider == "fonnte", senders.c.state == SenderState.DOWN)
    .scalar_subquery()
)


def held() -> Sequence[str]:
    """The provider's references of expired messages that it may still hold."""
    if settings.messaging_provider != "fonnte":
        return []
    told = _now - TOLD_WITHIN if settings.fonnte_webhook_token else None
    refs = (
        sa.select(_rows.provider_ref)
        .where(
            _rows.queue.in_(QUEUES),
            _rows.channel == Channel.MESSAGING,
            _rows.state == State.SENT,
            _rows.settled_at >= sa.func.least(_held_since, told),
            _rows.expires_at <= _now,
            _rows.provider_ref.is_not(None),
            sa.func.coalesce(_rows.receipt, Receipt.ACCEPTED) == Receipt.ACCEPTED,
            _rows.last_error.is_(None),
        )
        .order_by(_rows.settled_at)
        .limit(BATCH)
    )
    with autocommit() as connection:
        return list(dict.fromkeys(connection.execute(refs).scalars()))


def take_back(ref: str) -> bool | None:
    """Whether the provider gave a message back; None when that cannot be told now."""
    try:
        return messaging.client().take_back(ref)
    except ProviderError as error:
        logger.warning("a message was not taken back: %s", error)
        return None


def record(ref: str, *, is_taken_back: bool) -> list[int]:
    """Note it on the rows that left as this message; returns the occurrences that nobody was told of after all."""
    values = {"state": State.MISSED, "last_error": TAKEN_BACK} if is_taken_back else {"last_error": TOO_LATE}
    statement = (
        sa.update(deliveries)
        .where(_rows.provider_ref == ref, _rows.state == State.SENT)
        .values(values)
        .returning(_rows.occurrence_id)
    )
    occurrences = list(db.session.scalars(statement))
    return [each for each in occurrences if each is not None] if is_taken_back else []
