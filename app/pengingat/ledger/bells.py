"""Bells: the deliveries of reminders.

A bell is one row of the outbox for a person, a channel, a kind and a moment. It has no text, and it does not name any
occurrence. When a worker claims a bell, `outgoing.render` reads which occurrences of the person have this moment. So
nothing cancels or changes a bell. `begin` stores the ids of the occurrences that the message names in `said`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

import sqlalchemy as sa

from app.notifications import outbox
from app.notifications.models import OPEN, Channel, DeliveryState, Receipt, deliveries
from app.pengingat.models import LATE, Occurrence, Pengingat, occurrences

KIND = "reminder"
#: Key of the payload with the kind of a bell.
BELL = "bell"
SECOND = timedelta(seconds=1)


class BellKind(StrEnum):
    FIRST = "first"
    #: The second message about a dose without an answer.
    AGAIN = "again"
    SNOOZE = "snooze"


class Bell(NamedTuple):
    user_id: int
    kind: BellKind
    moment: datetime


def moment_of(due_at: datetime) -> datetime:
    """Return the moment of a due time: the same time, rounded up to a second."""
    return due_at if due_at.microsecond == 0 else due_at.replace(microsecond=0) + SECOND


def of_row(pengingat: Pengingat, row: Occurrence) -> Iterator[Bell]:
    """Yield the bells of a pending occurrence. After a snooze, only the end of the snooze rings."""
    if row.snoozed_until is not None:
        yield Bell(row.user_id, BellKind.SNOOZE, row.snoozed_until)
        return
    yield Bell(row.user_id, BellKind.FIRST, moment_of(row.due_at))
    if again := again_at(pengingat, row.due_at):
        yield Bell(row.user_id, BellKind.AGAIN, again)


def again_at(pengingat: Pengingat, due_at: datetime) -> datetime | None:
    """Return when the message of an unanswered dose is repeated, or None if it is not repeated.

    The person sets the delay. A message is not repeated after the next dose. It is repeated at night only if the dose
    itself is at night.
    """
    after, zone = pengingat.type.again_after(pengingat.details), pengingat.zone
    if after is None:
        return None
    again = moment_of(due_at) + after
    if is_night(again.astimezone(zone)) and not is_night(due_at.astimezone(zone)):
        return None
    following = pengingat.schedule.next_occurrence(due_at)
    return again if following is None or again < following else None


def is_night(local: datetime) -> bool:
    """Return whether a local time is between 22.00 and 05.00."""
    return local.hour >= 22 or local.hour < 5


def ring(bells: Iterable[Bell], now: datetime) -> None:
    """Write these bells, except expired ones.

    The statement locks a bell that exists, so that its claim waits for the commit. The order prevents deadlocks.
    """
    outbox.send(
        *(
            outbox.NewDelivery(
                kind=KIND,
                dedupe_key=f"bell:{bell.user_id}:{bell.kind}:{bell.moment:%Y%m%dT%H%M%SZ}",
                payload={BELL: bell.kind},
                due_at=bell.moment,
                expires_in=LATE,
                user_id=bell.user_id,
            )
            for bell in sorted(set(bells))
            if bell.moment + LATE > now
        )
    )


# --- the bells of an occurrence ---------------------------------------------------------------------------------------


def rang_for(rows: Any = occurrences.c, bells: Any = deliveries.c) -> sa.ColumnElement[bool]:
    """Return the condition that a row of the outbox is a bell of the moments of an occurrence, or names it."""
    kind, last = bells.payload[BELL].astext, sa.func.greatest(rows.due_at, rows.snoozed_until)
    is_first = sa.and_(kind == BellKind.FIRST, bells.due_at < rows.due_at + SECOND)
    is_snooze = sa.and_(kind == BellKind.SNOOZE, bells.due_at == rows.snoozed_until)
    return sa.and_(
        bells.user_id == rows.user_id,
        bells.due_at.between(rows.due_at, last + LATE + SECOND),  # for the index
        bells.kind == KIND,
        sa.or_(is_first, is_snooze, rows.id == sa.any_(bells.said)),
    )


#: The channels that reach a person. A fan-out says nothing, and counts for nothing.
REACHES = (Channel.MESSAGING, Channel.PUSH)


def is_accepted(bells: Any = deliveries.c) -> sa.ColumnElement[bool]:
    """Return the condition that the provider has accepted a delivery, and has not reported a failure since."""
    is_failed = bells.receipt.is_not_distinct_from(Receipt.FAILED)
    return sa.and_(bells.channel.in_(REACHES), bells.state == DeliveryState.SENT, ~is_failed)


def is_failed(now: sa.ColumnElement[datetime], bells: Any = deliveries.c) -> sa.ColumnElement[bool]:
    """Return the condition that a delivery failed, expired or was taken back. A cancelled one counts for nothing."""
    return sa.and_(
        bells.channel.in_(REACHES),
        sa.or_(
            bells.state.in_([DeliveryState.FAILED, DeliveryState.MISSED]),
            bells.receipt == Receipt.FAILED,
            sa.and_(bells.state.in_(OPEN), bells.expires_at <= now),
        ),
    )
