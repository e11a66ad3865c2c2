"""Messages that are sent again as a template, because WhatsApp refused them as free text.

WhatsApp accepts free text only for 24 hours after the recipient wrote to us. The refused delivery stays unchanged, and
a second delivery is added.
"""

from __future__ import annotations

from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB, insert

from app.core.database.session import db
from app.core.settings import settings
from app.notifications.delivery.drain import routing
from app.notifications.delivery.message_format import AS_TEMPLATE, template_name
from app.notifications.models import deliveries

#: A dedupe key, or a column of dedupe keys.
Key = TypeVar("Key", str, sa.ColumnElement[str])

_rows = deliveries.c
#: Columns that are copied from the refused delivery to the second delivery.
_SAME = (
    "queue",
    "channel",
    "kind",
    "about_type",
    "about_id",
    "sealed",
    "user_id",
    "occurrence_id",
    "target",
    "due_at",
    "expires_at",
)


def key_of(first: Key) -> Key:
    """Return the `dedupe_key` of the second delivery, from the `dedupe_key` of the refused delivery."""
    return first + ":template"


def send_as_template(delivery_id: int) -> bool:
    """Add a delivery that sends the refused message as a template at once. Return whether the delivery is new."""
    refused = db.session.execute(
        sa.select(_rows.kind, _rows.payload, _rows.sealed).where(_rows.id == delivery_id, _may_be_repeated)
    ).one_or_none()
    if refused is None or not settings.follows_whatsapp_hours:
        return False
    if template_name(refused.kind, refused.payload.get("tipe")) is None:
        return False
    if refused.sealed is None and refused.kind not in routing().render:
        return False  # no text to send: the encrypted text was deleted, and no renderer exists
    copied = sa.select(
        key_of(_rows.dedupe_key),
        _rows.payload + sa.literal({AS_TEMPLATE: True}, JSONB),
        sa.func.statement_timestamp(),
        *(_rows[name] for name in _SAME),
    ).where(_rows.id == delivery_id, _may_be_repeated)
    added = (
        insert(deliveries)
        .from_select(["dedupe_key", "payload", "next_try_at", *_SAME], copied)
        .on_conflict_do_nothing(index_elements=[_rows.dedupe_key])
        .returning(_rows.id)
    )
    return db.session.scalar(added) is not None


_may_be_repeated = sa.and_(
    _rows.expires_at > sa.func.statement_timestamp(),
    ~_rows.payload.has_key(AS_TEMPLATE),
)
