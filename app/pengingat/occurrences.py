"""Coming occurrences as rows of the outbox, made in the transaction of whoever changes the reminder or tops it up."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from app.notifications import outbox
from app.notifications.models import Channel
from app.pengingat import texts
from app.pengingat.models import Pengingat
from app.pengingat.schedule import Due
from app.pengingat.texts import Recipient

#: How far ahead occurrences are rows of the outbox.
HORIZON = timedelta(hours=36)
#: How late a reminder is still of use.
LATE = timedelta(minutes=60)

NEVER = datetime(9999, 1, 1, tzinfo=UTC)

KIND = "reminder"


def subject(pengingat_id: int) -> str:
    return f"pengingat:{pengingat_id}"


def extend(pengingat: Pengingat, recipient: Recipient, *, after: datetime, now: datetime) -> list[outbox.Draft]:
    """The deliveries due after `after` and up to the horizon; sets `planned_until` to it.

    The caller holds a lock on the row, so that no edit comes in between.
    """
    schedule, until = pengingat.schedule, now + HORIZON
    dues = schedule.dues(after, until)
    if pengingat.done_until is not None:
        dues = [due for due in dues if due.occurrence >= pengingat.done_until]
    pengingat.planned_until = NEVER if schedule.is_over(until) else until
    return [draft for due in dues for draft in _drafts(pengingat, due, recipient)]


def _drafts(pengingat: Pengingat, due: Due, recipient: Recipient) -> Iterator[outbox.Draft]:
    payloads = {
        Channel.MESSAGING: {"text": texts.message(pengingat, due, recipient)},
        Channel.PUSH_FAN_OUT: texts.push(pengingat, due, recipient),
    }
    for channel, payload in payloads.items():
        yield outbox.Draft(
            kind=KIND,
            channel=channel,
            dedupe_key=f"pengingat:{pengingat.id}:{due.occurrence:%Y%m%dT%H%M%SZ}:{due.slot}:{channel}",
            payload=payload,
            due_at=due.at,
            expires_at=due.at + LATE,
            user_id=pengingat.user_id,
            subject=subject(pengingat.id),
        )
