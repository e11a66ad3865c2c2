"""Answers that somebody writes: they concern what was sent to their number last and is still open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from app.core.database import clock as database_clock
from app.core.database.prepared import PreparedStatement
from app.core.database.session import current_connection
from app.core.errors import NotFound
from app.core.lib.clock import JAKARTA
from app.identity.models import User
from app.notifications.models import Channel, Receipt, deliveries
from app.notifications.models import State as DeliveryState
from app.pengingat.ledger import answers, statements
from app.pengingat.ledger.schemas import QuickAnswer
from app.pengingat.models import AnsweredVia, Occurrence, Pengingat, State, occurrences
from app.pengingat.one_tap import links
from app.pengingat.one_tap.links import LIFETIME, Asked

#: So long before its time a reminder may leave with others of its minute, by a provider's clock that may be behind. The
#: note of when it left may come later, for PostgreSQL may be away.
AHEAD = timedelta(minutes=2)

#: Deliveries to a person that are looked at: those of a day, and no end of them.
LATEST = 100


_rows, _of = occurrences.c, deliveries.c
_sent_at = sa.func.coalesce(_of.settled_at, _of.due_at)
_sent = PreparedStatement(
    sa.select(*_rows, Pengingat.timezone, _of.claim_token, _of.id)
    .join_from(occurrences, deliveries, _of.occurrence_id == _rows.id)
    .join(User, User.id == _of.user_id)
    .outerjoin(Pengingat, Pengingat.id == _rows.reminder_id)
    .where(
        _of.user_id == sa.bindparam("of_user", type_=sa.BigInteger),
        _of.channel == Channel.MESSAGING,
        sa.or_(_of.state == DeliveryState.SENT, _of.unknowns > 0),
        _of.receipt.is_distinct_from(Receipt.FAILED.value),
        _sent_at > sa.bindparam("since", type_=sa.DateTime(timezone=True)),
        _of.due_at <= sa.bindparam("until", type_=sa.DateTime(timezone=True)),
        sa.or_(User.phone_changed_at.is_(None), User.phone_changed_at <= _sent_at),
    )
    .order_by(_sent_at.desc(), _of.due_at, _of.id)
    .limit(LATEST)
)


class NothingAsked(NotFound):
    message = "Tidak ada jadwal yang menunggu jawaban Anda."


class NoSuchNumber(NotFound):
    """The message that is meant numbers fewer reminders."""

    def __init__(self, count: int) -> None:
        super().__init__(f"Pesan terakhir memuat {count} pengingat. Balas dengan nomor 1 sampai {count}.")


def answer(user_id: int, data: QuickAnswer, numbers: Sequence[int] = (), *, wrote_at: datetime | None = None) -> Asked:
    """Answer what was sent last and is open, or those of it that a person names by number; returns what is answered.

    They wrote at `wrote_at`, or now, having read nothing that fell due later. Raises `NothingAsked`, `NoSuchNumber` or
    the refusal where nothing could be answered.
    """
    asked = _meant(_messages(user_id, wrote_at))
    if any(not 1 <= number <= len(asked.occurrences) for number in numbers):
        raise NoSuchNumber(len(asked.occurrences))
    named = [asked.occurrences[number - 1] for number in numbers] or asked.occurrences
    return replace(asked, occurrences=answers.answer_all(named, data, asked.via))


def answer_button(user_id: int, token: str, data: QuickAnswer) -> Asked:
    """Answer what the message asked under which a button was pressed; somebody else's is none."""
    asked = links.look(token)
    if asked.occurrences[0].user_id != user_id:
        raise NothingAsked
    answered = answers.answer_all(asked.occurrences, data, AnsweredVia.MESSAGE)
    return replace(asked, via=AnsweredVia.MESSAGE, occurrences=answered)


def count_open(user_id: int, *, wrote_at: datetime | None = None) -> int:
    """How many occurrences a person was told of, up to `wrote_at` or now, and has not answered, while they may."""
    messages = _messages(user_id, wrote_at)
    return len({row.id for message in messages for row in message.occurrences if row.state == State.PENDING})


def _meant(messages: Sequence[Asked]) -> Asked:
    """The last of which something is open, else was missed, else at all."""
    for state in (State.PENDING, State.MISSED):
        for message in messages:
            if any(row.state == state for row in message.occurrences):
                return message
    if not messages:
        raise NothingAsked
    return messages[0]


def _messages(user_id: int, wrote_at: datetime | None) -> list[Asked]:
    """What was sent to the number that a person has now, due by then, newest first, each in the order of its numbers.

    So may be what left in a call of which nobody knows what came: who answers it has it.
    """
    now = database_clock.now()
    with current_connection() as connection:
        rows = _sent.rows(connection, {"of_user": user_id, "since": now - LIFETIME, "until": (wrote_at or now) + AHEAD})
    # What left as one message was claimed as one.
    messages: dict[object, list[tuple[Occurrence, str | None]]] = {}
    for *row, zone, claim_token, delivery_id in rows:
        messages.setdefault(claim_token or delivery_id, []).append((statements.occurrence_of(row), zone))
    return [_asked(message) for message in messages.values()]


def _asked(message: Sequence[tuple[Occurrence, str | None]]) -> Asked:
    zone = next((zone for _, zone in message if zone), None)
    return Asked([row for row, _ in message], ZoneInfo(zone) if zone else JAKARTA, AnsweredVia.MESSAGE)
