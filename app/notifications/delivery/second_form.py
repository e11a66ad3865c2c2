"""What WhatsApp refused as a text, because its 24 hours were over after all, goes once more as a template.

That is a delivery of its own: the one that was refused stays as it is, and none is called twice.
"""

from __future__ import annotations

from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB, insert

from app.core.database.session import db
from app.core.settings import settings
from app.notifications.delivery.drain import routing
from app.notifications.delivery.forms import AS_TEMPLATE, template_name
from app.notifications.models import deliveries

#: A value, or a column of them.
Key = TypeVar("Key", str, sa.ColumnElement[str])

_rows = deliveries.c
#: What the second row has from the first.
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
    """The dedupe_key of the second delivery, by that of the first."""
    return first + ":template"


def send_as_template(delivery_id: int) -> bool:
    """Add the delivery that says the same by a template; returns whether it is new. The clock finds it at once."""
    refused = db.session.execute(
        sa.select(_rows.kind, _rows.payload, _rows.sealed).where(_rows.id == delivery_id, _may_be_repeated)
    ).one_or_none()
    if refused is None or not settings.follows_whatsapp_hours:
        return False
    if template_name(refused.kind, refused.payload.get("tipe")) is None:
        return False
    if refused.sealed is None and refused.kind not in routing().render:
        return False  # its words are forgotten
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
