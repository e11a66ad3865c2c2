"""Receipts: reports from the provider that an accepted message was sent, delivered or read, or has failed.

Receipts may arrive twice, late, and in any order. Each delivery stores the receipt that is the furthest in `Receipt`. A
receipt also shows that the provider has the message. So the message is not sent again, even if the worker died before
it recorded the outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from app.core.database.session import db
from app.notifications.delivery.settlements import final
from app.notifications.models import DeliveryState, InboundKind, Receipt, deliveries, inbound
from app.notifications.senders import numbers

#: Maximum number of receipts in one transaction.
BATCH = 500

#: Outcomes of a receipt. A receipt is ignored if its delivery has a further one, or if no delivery is known.
APPLIED, IGNORED = "applied", "ignored"

#: Function called once for each message that failed after the provider accepted it. The arguments are the id of the
#: delivery and the provider's error code.
FailedReceipt = Callable[[int, str | None], None]

_events = inbound.c
#: Condition: a receipt must be handled.
is_open: sa.ColumnElement[bool] = sa.and_(
    sa.literal_column("handled_at IS NULL"), _events.kind == sa.literal_column(f"'{InboundKind.RECEIPT}'")
)
_open = (
    sa.select(_events.id, _events.ref, _events.payload, _events.received_at)
    .where(is_open)
    .order_by(_events.id)
    .limit(BATCH)
)
_lock = sa.select(sa.func.pg_try_advisory_xact_lock(sa.func.hashtextextended("receipts", 0)))
_rows = deliveries.c
_receipt = sa.bindparam("new_receipt", type_=sa.Text)
_ranks = sa.literal(list(Receipt), ARRAY(sa.Text))
_was_open = _rows.state != DeliveryState.SENT
_apply = (
    sa.update(deliveries)
    .where(
        sa.or_(
            _rows.id == sa.bindparam("of_id", type_=sa.BigInteger),
            _rows.provider_ref == sa.bindparam("of_ref", type_=sa.Text),
        ),
        # Skip rows that no worker ever claimed. After a restore of the database, a new row can have the id of an older,
        # lost delivery. Receipts of the lost delivery may still arrive.
        _rows.claim_token.is_not(None),
        sa.func.array_position(_ranks, _receipt) > sa.func.coalesce(sa.func.array_position(_ranks, _rows.receipt), 0),
    )
    .values(
        receipt=_receipt,
        receipt_at=sa.bindparam("new_at", type_=sa.DateTime(timezone=True)),
        receipt_code=sa.bindparam("new_code", type_=sa.Text),
        provider_ref=sa.func.coalesce(_rows.provider_ref, sa.bindparam("of_ref", type_=sa.Text)),
        state=DeliveryState.SENT,
        unconfirmed_calls=sa.case(
            (_was_open, sa.func.greatest(_rows.unconfirmed_calls - 1, 0)), else_=_rows.unconfirmed_calls
        ),
        **{name: sa.case((_was_open, value), else_=_rows[name]) for name, value in final().items()},
    )
    .returning(_rows.id)
)
#: Fonnte's later receipts have only the id of a state. An earlier receipt had it beside the id of the message.
_ref_of_state = (
    sa.select(_events.ref)
    .where(
        _events.kind == sa.literal_column(f"'{InboundKind.RECEIPT}'"),
        _events.ref.is_not(None),
        _events.payload["state_ref"].astext == sa.bindparam("of_state"),
    )
    .limit(1)
)


def take(on_failed: FailedReceipt, on_changed: Callable[[set[int]], None]) -> int:
    """Handle up to `BATCH` open receipts. Return their number, or 0 while another job handles receipts.

    `on_changed` gets the ids of all deliveries with a new receipt.

    One job at a time locks the deliveries, so two jobs cannot wait for each other.
    """
    if not db.session.scalar(_lock):
        return 0
    batch = db.session.execute(_open).all()
    applied: list[int] = []
    failed: dict[int, str | None] = {}
    changed: set[int] = set()
    for event_id, ref, payload, received_at in batch:
        ids = db.session.scalars(_apply, _values(ref, payload, received_at)).all()
        if ids:
            applied.append(event_id)
            changed.update(ids)
        for delivery_id in ids:
            failed.pop(delivery_id, None)
            if payload["receipt"] == Receipt.FAILED:
                failed[delivery_id] = payload.get("code")
    if changed:
        numbers.record_received(changed)
        on_changed(changed)
    for delivery_id, code in failed.items():
        on_failed(delivery_id, code)
    for outcome, is_it in ((APPLIED, _events.id.in_(applied)), (IGNORED, _events.id.not_in(applied))):
        handled = sa.update(inbound).where(_events.id.in_([event.id for event in batch]), is_it)
        db.session.execute(handled.values(outcome=outcome, handled_at=sa.func.now()))
    return len(batch)


def _values(ref: str | None, payload: Mapping[str, Any], received_at: datetime) -> dict[str, object]:
    """Return the parameters of `_apply` for one receipt, from the payload that the provider's module has stored."""
    state, at = payload.get("state_ref"), payload.get("at")
    return {
        "of_id": payload.get("delivery"),
        "of_ref": db.session.scalar(_ref_of_state, {"of_state": state}) if state and not ref else ref,
        "new_receipt": payload["receipt"],
        "new_at": datetime.fromisoformat(at) if at else received_at,
        "new_code": payload.get("code"),
    }
