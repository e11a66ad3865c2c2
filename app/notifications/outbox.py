"""Interface of the outbox: functions that add or cancel deliveries in the caller's transaction.

A delivery is one message or push, stored as a row. A worker sends the delivery after the commit of the transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

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

    Without `target`, the delivery is sent to the person's current address. A worker reads the text from the database
    when it sends the delivery. Only text that is stored nowhere else, such as a reset link, is passed in `words`. This
    text is stored encrypted.
    """

    kind: str
    channel: Channel
    dedupe_key: str
    expires_at: datetime
    due_at: datetime | None = None  # None: send at once
    user_id: int | None = None
    occurrence_id: int | None = None
    target: str | None = None
    about: About | None = None
    payload: Mapping[str, object] = field(default_factory=dict)
    words: Words | None = None
    queue: str = URGENT


def add(delivery: NewDelivery) -> bool:
    """Add one delivery. Return whether the delivery is new or was cancelled before."""
    return add_all([delivery]) == 1


def add_all(deliveries: Sequence[NewDelivery]) -> int:
    """Add deliveries. Return the number of deliveries that are new or were cancelled before.

    A cancelled delivery that is added again becomes pending. If a worker had claimed the delivery, the delivery is not
    due before this claim expires. Otherwise two workers could send the delivery.
    """
    return _insert(deliveries) if deliveries else 0


def cancel(about: About, kinds: Collection[str] = (), *, to: int | None = None) -> None:
    """Cancel the unsent deliveries about a subject. A call to the provider that is in progress continues.

    With `kinds`, cancel only deliveries of these kinds. With `to`, cancel only deliveries to the person with this id.
    """
    of_kinds = Delivery.kind.in_(kinds) if kinds else sa.true()
    _cancel(*is_about(about), of_kinds, sa.true() if to is None else Delivery.user_id == to)


def is_about(about: About) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    """Return the conditions that select the deliveries about a subject."""
    return Delivery.about_type == about.type, Delivery.about_id == about.id


def cancel_one(dedupe_key: str) -> bool:
    """Cancel one delivery. Return whether the delivery was still unsent."""
    return _cancel(Delivery.dedupe_key == dedupe_key) == 1


def cancel_to_number(phone: str, user_id: int | None, kinds: Collection[str] = ()) -> None:
    """Cancel the unsent deliveries to this E.164 number (`target`) that belong to this person or to no account.

    With `kinds`, cancel only deliveries of these kinds.
    """
    is_recipient = sa.or_(Delivery.user_id.is_(None), Delivery.user_id == user_id)
    _cancel(Delivery.target == phone, is_recipient, Delivery.kind.in_(kinds) if kinds else sa.true())


def cancel_all_to(user_id: int) -> None:
    """Cancel all unsent deliveries to a person."""
    _cancel(Delivery.user_id == user_id)


def cancel_occurrences(occurrence_ids: sa.Select[int] | Collection[int]) -> None:
    """Cancel the unsent deliveries about these occurrences of reminders."""
    db.session.execute(cancelling_occurrences(occurrence_ids))


def cancelling_occurrences(occurrence_ids: sa.Select[int] | Collection[int]) -> sa.Update:
    """Return the UPDATE of `cancel_occurrences`, for use in a larger statement."""
    return _cancelling(Delivery.occurrence_id.in_(occurrence_ids))


def cancel_kinds(user_id: int, kinds: Collection[str]) -> None:
    """Cancel the unsent deliveries of these kinds to a person."""
    _cancel(Delivery.user_id == user_id, Delivery.kind.in_(kinds))


def _cancel(*which: sa.ColumnElement[bool]) -> int:
    result = db.session.execute(_cancelling(*which))
    return int(result.rowcount)  # type: ignore[attr-defined]  # an UPDATE's result counts rows


def _cancelling(*which: sa.ColumnElement[bool]) -> sa.Update:
    is_open = Delivery.state.in_(OPEN)
    cancel = sa.update(Delivery).where(*which, is_open)
    return cancel.values(state=DeliveryState.CANCELLED, **final()).execution_options(synchronize_session=False)


def _insert(deliveries: Sequence[NewDelivery]) -> int:
    now = db_time.now() if any(delivery.due_at is None for delivery in deliveries) else None
    rows = [_row(delivery, delivery.due_at or now) for delivery in deliveries]
    statement = insert(Delivery)
    new = statement.excluded
    result = db.session.execute(
        statement.on_conflict_do_update(
            index_elements=[Delivery.dedupe_key],
            set_={
                # Literal SQL, because a bound value here makes SQLAlchemy send one statement for each row.
                "state": sa.literal_column(f"'{DeliveryState.PENDING}'"),
                "payload": new.payload,
                "sealed": new.sealed,
                "about_type": new.about_type,
                "about_id": new.about_id,
                "user_id": new.user_id,
                "occurrence_id": new.occurrence_id,
                "target": new.target,
                "due_at": new.due_at,
                "expires_at": new.expires_at,
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


def _row(delivery: NewDelivery, due_at: datetime | None) -> dict[str, object]:
    values = {name: value for name, value in vars(delivery).items() if name not in ("about", "words")}
    about_type, about_id = delivery.about or (None, None)
    sealed = sealing.seal(delivery.words, delivery.user_id) if delivery.words is not None else None
    times = {"due_at": due_at, "next_try_at": due_at}
    return {**values, "about_type": about_type, "about_id": about_id, "sealed": sealed, **times}
