"""Handling of messages that the provider accepted and later reported as failed."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import db
from app.identity import dependents
from app.identity.models import User
from app.notifications.delivery import template_fallback
from app.notifications.models import deliveries
from app.notifications.senders import numbers, sender_status
from app.providers import fonnte, whatsapp


def record(delivery_id: int, code: str | None) -> None:
    """Handle the provider's report that a message failed. `code` is the provider's error code, or Fonnte's status word.

    This function is called once for each message.
    """
    if code == str(whatsapp.OUTSIDE_HOURS):
        template_fallback.send_as_template(delivery_id)
    elif code in _NOBODY_THERE and (phone := db.session.scalar(_phone, {"of_delivery": delivery_id})) is not None:
        numbers.refused(phone)
    elif code is not None and (error := whatsapp.sender_error(code)) is not None:
        sender_status.record_error(error)


_NOBODY_THERE = frozenset({*map(str, whatsapp.INVALID_NUMBERS), fonnte.INVALID})
_phone = (
    sa.select(sa.func.coalesce(deliveries.c.target, User.phone))
    .select_from(deliveries.outerjoin(User, User.id == dependents.receiver_of(deliveries.c.user_id)))
    .where(deliveries.c.id == sa.bindparam("of_delivery"))
)
