"""Helpers for sent medicine reminders and for the recorded answers."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import sqlalchemy as sa

from app.core.database.session import db
from app.notifications.models import Delivery, DeliveryState
from app.pengingat.models import Occurrence

Sent = Callable[..., list[int]]


def mark_sent(row: Occurrence, token: UUID, ref: str | None = None) -> None:
    """Mark the message of this occurrence as sent at its due time. Messages with one token are one message."""
    db.session.execute(
        sa.update(Delivery)
        .where(Delivery.occurrence_id == row.id, Delivery.channel == "messaging")
        .values(state=DeliveryState.SENT, settled_at=row.due_at, claim_token=token, provider_ref=ref)
    )


def read(occurrence_id: int) -> Occurrence:
    db.session.expire_all()
    return db.session.get_one(Occurrence, occurrence_id)


def state(occurrence_id: int) -> str:
    return read(occurrence_id).state
