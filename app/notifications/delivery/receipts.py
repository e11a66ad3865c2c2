"""Receipts: reports from the provider that an accepted message was sent, delivered or read, or has failed.

Receipts may arrive twice, late, and in any order. Each delivery stores the receipt with the highest rank in `RANKS`. A
receipt also shows that the provider has the message. So the message is not sent again, even if the worker died before
it recorded the outcome.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from app.core.database.session import db
from app.notifications.delivery.settlements import final
from app.notifications.models import DeliveryState, InboundKind, Receipt, deliveries, inbound
from app.notifications.senders import numbers

#: Maximum number of receipts in one transaction.
BATCH = 500
#: Time after which a receipt without a known delivery is handled a second time. The receipt may arrive before the
#: worker has stored the provider's reference of the message.
CHECK_EVERY = timedelta(seconds=30)

APPLIED, KNOWN, WAITING, NOBODYS = "applied", "known", "waiting", "unknown delivery"

RANKS = {receipt: rank for rank, receipt in enumerate(Receipt)}

#: Function called once for each message that failed after the provider accepted it. The arguments are the id of the
#: delivery and the provider's error code.
FailedReceipt = Callable[[int, str | None], None]


@dataclass(frozen=True)
class ReceiptEvent:
    """One receipt, read from the payload that the provider's module stored in `inbound`."""

    inbound_id: int
    ref: str | None
    receipt: Receipt
    at: datetime
    code: str | None
    delivery_id: int | None
    state_ref: str | None
    is_second_look: bool

    @classmethod
    def of(cls, row: sa.Row[int, str | None, Mapping[str, object], datetime, str | None]) -> Self:
        inbound_id, ref, payload, received_at, outcome = row
        at, code, delivery, state_ref = (payload.get(name) for name in ("at", "code", "delivery", "state_ref"))
        return cls(
            inbound_id,
            ref,
            Receipt(str(payload["receipt"])),
            datetime.fromisoformat(at) if isinstance(at, str) else received_at,
            code if isinstance(code, str) else None,
            delivery if isinstance(delivery, int) else None,
            state_ref if isinstance(state_ref, str) else None,
            outcome == WAITING,
        )


def take(on_failed: FailedReceipt) -> int:
    """Handle up to `BATCH` receipts that were not handled yet. Return their number."""
    batch = [ReceiptEvent.of(row) for row in db.session.execute(_open)]
    if not batch:
        return 0
    names = _Names.of(batch)
    about = {event.inbound_id: names.find(event) for event in batch}
    furthest: dict[int, ReceiptEvent] = {}
    for event in batch:
        for delivery_id in about[event.inbound_id]:
            best = furthest.get(delivery_id)
            if best is None or RANKS[event.receipt] > RANKS[best.receipt]:
                furthest[delivery_id] = event
    changed = _apply(furthest)
    _name({each: event.state_ref for event in batch if event.state_ref for each in about[event.inbound_id] - changed})
    if changed:
        numbers.record_received(changed)
    _close(batch, about, {furthest[delivery_id].inbound_id for delivery_id in changed})
    for delivery_id in sorted(changed):
        if furthest[delivery_id].receipt is Receipt.FAILED:
            on_failed(delivery_id, furthest[delivery_id].code)
    return len(batch)


def open_receipts(now: sa.ColumnElement[datetime]) -> sa.ColumnElement[bool]:
    """Return the condition that a receipt must be handled now."""
    return sa.and_(
        sa.literal_column("handled_at IS NULL"),
        inbound.c.kind == sa.literal_column(f"'{InboundKind.RECEIPT}'"),
        sa.or_(inbound.c.outcome.is_(None), inbound.c.received_at < now - CHECK_EVERY),
    )


_rows = deliveries.c
_open = (
    sa.select(inbound.c.id, inbound.c.ref, inbound.c.payload, inbound.c.received_at, inbound.c.outcome)
    .where(open_receipts(sa.func.now()))
    .order_by(inbound.c.id)
    .limit(BATCH)
    .with_for_update(skip_locked=True)
)


@dataclass(frozen=True)
class _Names:
    """Three maps that find the deliveries for a batch of receipts.

    The keys are delivery ids (`ids`) and the provider's two references of a message (`refs` and `state_refs`).
    """

    ids: Mapping[int, set[int]]
    refs: Mapping[str, set[int]]
    state_refs: Mapping[str, set[int]]

    @classmethod
    def of(cls, batch: Sequence[ReceiptEvent]) -> Self:
        own_ids = {event.delivery_id for event in batch if event.delivery_id is not None}
        which = sa.or_(
            # Skip rows that no worker ever claimed. After a restore of the database, a new row can have the id of an
            # older, lost delivery. Receipts of the lost delivery may still arrive.
            sa.and_(_rows.id.in_(own_ids), _rows.claim_token.is_not(None)),
            _rows.provider_ref == sa.any_(_texts(event.ref for event in batch)),
            _rows.provider_state_ref == sa.any_(_texts(event.state_ref for event in batch)),
        )
        names = (_rows.id, _rows.provider_ref, _rows.provider_state_ref)
        named = sa.select(*names).where(which).order_by(_rows.id)
        refs, state_refs = defaultdict[str, set[int]](set), defaultdict[str, set[int]](set)
        ids = {}
        for delivery_id, ref, state_ref in db.session.execute(named.with_for_update(key_share=True)):
            ids[delivery_id] = {delivery_id}
            refs[ref or ""].add(delivery_id)
            state_refs[state_ref or ""].add(delivery_id)
        # Some receipts have both references, and later receipts have only `state_ref`. A receipt with both shows which
        # deliveries the receipts with only `state_ref` belong to.
        for event in batch:
            if event.state_ref and event.ref:
                state_refs[event.state_ref] |= refs[event.ref]
        return cls(ids, refs, state_refs)

    def find(self, event: ReceiptEvent) -> set[int]:
        by_id = self.ids.get(event.delivery_id, set()) if event.delivery_id is not None else set()
        by_ref = self.refs.get(event.ref, set()) if event.ref else set()
        return by_id | by_ref or (self.state_refs.get(event.state_ref, set()) if event.state_ref else set())


def _texts(values: Iterable[str | None]) -> sa.BindParameter[list[str]]:
    return sa.literal(sorted({value for value in values if value}), ARRAY(sa.Text))


def _apply(furthest: Mapping[int, ReceiptEvent]) -> set[int]:
    """Store the receipts that have a higher rank than the stored receipt. Return the ids of the changed deliveries."""
    if not furthest:
        return set()
    reported = sa.values(
        sa.column("id", sa.BigInteger),
        sa.column("receipt", sa.Text),
        sa.column("rank", sa.Integer),
        sa.column("at", sa.DateTime(timezone=True)),
        sa.column("code", sa.Text),
        sa.column("ref", sa.Text),
        sa.column("state_ref", sa.Text),
        name="reported",
    ).data(
        [
            (delivery_id, one.receipt.value, RANKS[one.receipt], one.at, one.code, one.ref, one.state_ref)
            for delivery_id, one in furthest.items()
        ]
    )
    new = reported.c
    was_open = _rows.state != DeliveryState.SENT
    values = {
        "receipt": new.receipt,
        "receipt_at": new.at,
        "receipt_code": new.code,
        "provider_ref": sa.func.coalesce(_rows.provider_ref, new.ref),
        "provider_state_ref": sa.func.coalesce(_rows.provider_state_ref, new.state_ref),
        # A receipt shows that the provider has the message. So the delivery was sent, even if no worker has recorded
        # the outcome.
        "state": DeliveryState.SENT,
        "unconfirmed_calls": sa.case(
            (was_open, sa.func.greatest(_rows.unconfirmed_calls - 1, 0)), else_=_rows.unconfirmed_calls
        ),
        **{name: sa.case((was_open, value), else_=_rows[name]) for name, value in final().items()},
    }
    rank = sa.func.coalesce(sa.func.array_position(sa.literal(list(RANKS), ARRAY(sa.Text)), _rows.receipt) - 1, -1)
    statement = sa.update(deliveries).where(_rows.id == new.id, new.rank > rank).values(values).returning(_rows.id)
    return set(db.session.scalars(statement))


def _name(state_refs: Mapping[int, str]) -> None:
    """Store the reference of later receipts (`provider_state_ref`) in deliveries that `_apply` has not changed."""
    if not state_refs:
        return
    reported = sa.values(sa.column("id", sa.BigInteger), sa.column("state_ref", sa.Text), name="reported")
    new = reported.data(sorted(state_refs.items())).c
    which = _rows.id == new.id, _rows.provider_state_ref.is_(None)
    db.session.execute(sa.update(deliveries).where(*which).values(provider_state_ref=new.state_ref))


def _close(batch: Sequence[ReceiptEvent], about: Mapping[int, set[int]], applied: set[int]) -> None:
    by_outcome: dict[str, list[int]] = {}
    for event in batch:
        if about[event.inbound_id]:
            outcome = APPLIED if event.inbound_id in applied else KNOWN
        else:
            outcome = NOBODYS if event.is_second_look else WAITING
        by_outcome.setdefault(outcome, []).append(event.inbound_id)
    for outcome, ids in by_outcome.items():
        handled_at = None if outcome == WAITING else sa.func.now()
        db.session.execute(
            sa.update(inbound).where(inbound.c.id.in_(ids)).values(outcome=outcome, handled_at=handled_at)
        )
