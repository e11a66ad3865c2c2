"""Interface of the outbox: `send` adds deliveries in the caller's transaction, and `cancel` ends unsent ones.

A delivery is one message or push, stored as a row. A worker sends the delivery after the commit of the transaction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database import db_time
from app.core.database.session import db
from app.core.jobs.queue import URGENT
from app.notifications.delivery import sealing
from app.notifications.delivery.sealing import Words
from app.notifications.delivery.settlements import final
from app.notifications.models import OPEN, About, Channel, Delivery, DeliveryState


@dataclass(frozen=True, kw_only=True)
class NewDelivery:
    """A delivery to add. A second delivery with the same `dedupe_key` is not added, unless the first was cancelled.

    Without `channel`, the person gets a message and a push, because one of the two may not arrive. Without `target`,
    the delivery is sent to the person's current address. A worker reads the text from the database when it sends the
    delivery. Only text that is stored nowhere else, such as a reset link, is passed in `words`, and stored encrypted.
    """

    kind: str
    dedupe_key: str
    channel: Channel | None = None
    #: The end of the delivery: a time, or the time after `due_at`.
    expires_at: datetime | None = None
    expires_in: timedelta = timedelta(hours=1)
    due_at: datetime | None = None  # None: send at once
    user_id: int | None = None
    target: str | None = None
    #: The subject, which the renderer reads from the payload.
    about: About | None = None
    payload: Mapping[str, object] = field(default_factory=dict)
    words: Words | None = None
    queue: str = URGENT


def send(*deliveries: NewDelivery) -> int:
    """Add deliveries. Return the number of rows that are new or were cancelled before.

    A cancelled delivery that is added again becomes pending. If a worker had claimed the delivery, the delivery is not
    due before this claim expires. Otherwise two workers could send the delivery.
    """
    if not deliveries:
        return 0
    is_timed = all(delivery.due_at is not None for delivery in deliveries)
    now = None if is_timed else db_time.now()
    rows = [row for delivery in deliveries for row in _rows(delivery, delivery.due_at or now)]
    statement = insert(Delivery)
    new = statement.excluded
    names = ("payload", "sealed", "user_id", "target", "due_at", "expires_at")
    result = db.session.execute(
        statement.on_conflict_do_update(
            index_elements=[Delivery.dedupe_key],
            set_={
                **{name: new[name] for name in names},
                # Literal SQL, because a bound value here makes SQLAlchemy send one statement for each row.
                "state": sa.literal_column(f"'{DeliveryState.PENDING}'"),
                # If no worker ever claimed the row, use the new time. Otherwise use the new or the stored time,
                # whichever is later, because a claim may not have expired yet.
                "next_try_at": sa.case(
                    (Delivery.claim_token.is_(None), new.next_try_at),
                    else_=sa.func.greatest(new.next_try_at, Delivery.next_try_at),
                ),
                "settled_at": sa.null(),
            },
            where=Delivery.state == sa.literal_column(f"'{DeliveryState.CANCELLED}'"),
        ).returning(Delivery.id),
        rows,
    )
    return len(result.all())


def cancel(*which: sa.ColumnElement[bool]) -> int:
    """Cancel the unsent deliveries that meet the conditions. A call to the provider that is in progress continues.

    A condition on `user_id`, `dedupe_key` or `target` keeps the statement fast. Return the number of deliveries.
    """
    statement = sa.update(Delivery).where(*which, Delivery.state.in_(OPEN))
    values = {"state": DeliveryState.CANCELLED, **final()}
    result = db.session.execute(statement.values(values).execution_options(synchronize_session=False))
    return int(result.rowcount)  # type: ignore[attr-defined]  # an UPDATE's result counts rows


def is_about(about: About) -> sa.ColumnElement[bool]:
    """Return the condition that selects the deliveries about a subject."""
    return Delivery.payload.contains(_payload_of(about))


def _payload_of(about: About) -> dict[str, object]:
    return {"about": about.type, "about_id": about.id}


def _rows(delivery: NewDelivery, due_at: datetime | None) -> Iterator[dict[str, object]]:
    assert due_at is not None  # noqa: S101  # for mypy: `send` has read the time
    names = ("kind", "dedupe_key", "channel", "user_id", "target", "queue")
    row = {
        **{name: getattr(delivery, name) for name in names},
        "payload": {**delivery.payload, **(_payload_of(delivery.about) if delivery.about else {})},
        "sealed": None if delivery.words is None else sealing.seal(delivery.words, delivery.user_id),
        "due_at": due_at,
        "next_try_at": due_at,
        "expires_at": delivery.expires_at or due_at + delivery.expires_in,
    }
    if delivery.channel is not None:
        yield row
        return
    for channel in (Channel.MESSAGING, Channel.PUSH_FAN_OUT):
        yield {**row, "channel": channel, "dedupe_key": f"{delivery.dedupe_key}:{channel}"}
