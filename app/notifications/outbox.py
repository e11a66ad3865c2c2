"""What other sections call: put a delivery into the outbox, or take it back, in the transaction that causes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database import clock as database_clock
from app.core.database.session import db
from app.core.jobs.queue import URGENT, enqueue_once
from app.notifications.delivery.claims import final
from app.notifications.jobs import drain
from app.notifications.models import OPEN, Channel, Delivery, State


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A delivery to be. Equal `dedupe_key`s are one delivery; `target` None means where the person is reached then."""

    kind: str
    channel: Channel
    dedupe_key: str
    payload: Mapping[str, Any]
    expires_at: datetime
    due_at: datetime | None = None  # None: at once
    user_id: int | None = None
    target: str | None = None
    subject: str | None = None
    queue: str = URGENT


def add(**fields: Any) -> bool:
    """Add one delivery (the fields of `Draft`); returns whether it is new."""
    return add_all([Draft(**fields)]) == 1


def add_all(drafts: Sequence[Draft]) -> int:
    """Add deliveries, each once; returns how many are new.

    One that was cancelled and is added again goes out after all. One that a worker was at when it was cancelled waits
    for that worker's lease, so that it cannot go out twice.
    """
    now = database_clock.now()
    values = [_values(draft, now) for draft in drafts]
    added = _insert(values) if values else 0
    for queue in {row["queue"] for row in values if row["due_at"] <= now}:
        enqueue_once(drain, queue, queue=queue)
    return added


def cancel(subject: str, *, due_after: datetime | None = None) -> int:
    """Take back what belongs to `subject` and has not gone out; returns how many. A call under way goes through.

    `due_after` spares what is due by then and merely late.
    """
    later = sa.true() if due_after is None else Delivery.due_at > due_after
    return _cancel(Delivery.subject == subject, later)


def cancel_one(dedupe_key: str) -> bool:
    """Take back one delivery; returns whether it had not gone out."""
    return _cancel(Delivery.dedupe_key == dedupe_key) == 1


def _cancel(*which: sa.ColumnElement[bool]) -> int:
    result = db.session.execute(
        sa.update(Delivery)
        .where(*which, Delivery.state.in_(OPEN))
        .values(state=State.CANCELLED, **final())
        .execution_options(synchronize_session=False)
    )
    return int(result.rowcount)  # type: ignore[attr-defined]  # an UPDATE's result counts rows


def _values(draft: Draft, now: datetime) -> dict[str, Any]:
    due_at = draft.due_at or now
    return {
        "kind": draft.kind,
        "channel": draft.channel,
        "dedupe_key": draft.dedupe_key,
        "payload": dict(draft.payload),
        "user_id": draft.user_id,
        "target": draft.target,
        "subject": draft.subject,
        "queue": draft.queue,
        "due_at": due_at,
        "next_try_at": due_at,
        "expires_at": draft.expires_at,
    }


def _insert(values: list[dict[str, Any]]) -> int:
    statement = insert(Delivery)
    new = statement.excluded
    result = db.session.execute(
        statement.on_conflict_do_update(
            index_elements=[Delivery.dedupe_key],
            set_={
                "state": State.PENDING,
                "payload": new.payload,
                "subject": new.subject,
                "user_id": new.user_id,
                "target": new.target,
                "expires_at": new.expires_at,
                "next_try_at": sa.func.greatest(new.next_try_at, Delivery.next_try_at),
                "settled_at": None,
            },
            where=Delivery.state == State.CANCELLED,
        ).returning(Delivery.id),
        values,
    )
    return len(result.all())
