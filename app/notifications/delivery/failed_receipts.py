"""Handling of messages that the provider accepted and later reported as failed."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import db
from app.core.settings import settings
from app.identity import dependents
from app.identity.models import User
from app.notifications.delivery import settlements
from app.notifications.delivery.drain import routing
from app.notifications.delivery.message_format import AS_TEMPLATE
from app.notifications.models import deliveries
from app.notifications.senders import numbers, sender_status
from app.providers import fonnte, whatsapp


def record(delivery_id: int, code: str | None) -> None:
    """Handle the provider's report that a message failed. `code` is the provider's error code, or Fonnte's status word.

    This function is called once for each message.
    """
    if code == str(whatsapp.OUTSIDE_HOURS) and settings.follows_whatsapp_hours:
        _send_as_template(delivery_id)
    elif code in _NOBODY_THERE and (phone := db.session.scalar(_phone, {"of_delivery": delivery_id})) is not None:
        numbers.refused(phone)
    elif code is not None and (error := whatsapp.sender_error(code)) is not None:
        sender_status.record_error(error)


def _send_as_template(delivery_id: int) -> None:
    """Send an accepted message again as a template, unless it has expired or was a template.

    A text that was stored only in its delivery is deleted by now, so such a message is not sent again.
    """
    _rows = deliveries.c
    db.session.execute(
        sa.update(deliveries)
        .where(
            _rows.id == delivery_id,
            _rows.kind.in_(routing().render),
            ~_rows.payload.has_key(AS_TEMPLATE),
            _rows.expires_at > sa.func.statement_timestamp(),
        )
        .values(
            sealed=None, provider_ref=None, receipt=None, receipt_at=None, settled_at=None, **settlements.as_template()
        )
    )


_NOBODY_THERE = frozenset({*map(str, whatsapp.INVALID_NUMBERS), fonnte.INVALID})
_phone = (
    sa.select(sa.func.coalesce(deliveries.c.target, User.phone))
    .select_from(deliveries.outerjoin(User, User.id == dependents.receiver_of(deliveries.c.user_id)))
    .where(deliveries.c.id == sa.bindparam("of_delivery"))
)
