"""Limits on the answers that we send to a phone number, so that two machines do not answer each other forever.

A limit stops only the answer. The received message always takes effect.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.notifications.models import InboundKind, inbound

#: Maximum answers per hour and per day to messages whose outcome is neither in `SMALL_TALK` nor in `DANGERS`. Such
#: messages are for example "sudah" and opt-outs.
MAX_PER_HOUR, MAX_PER_DAY = 20, 60
#: Maximum answers per hour and per day to messages with an outcome of `SMALL_TALK`.
MAX_TALK_PER_HOUR, MAX_TALK_PER_DAY = 3, 10
#: Minimum time between two texts for a crisis, or between two texts for an emergency.
DANGER_AGAIN = timedelta(minutes=10)
#: The query in `budget` reads only messages that were received within this time. So the query reads only a part of the
#: index.
LATEST = timedelta(days=8)

#: If a message was answered, its stored outcome begins with this prefix.
ANSWERED = "answered:"

HELP, DOUBT, OK, ONLY_TEXT = "help", "doubt", "ok", "only text"
CRISIS, EMERGENCY = "crisis", "emergency"
#: Outcomes of messages that change nothing. Answers to these messages have the lower limits `MAX_TALK_PER_HOUR` and
#: `MAX_TALK_PER_DAY`.
SMALL_TALK = frozenset({HELP, DOUBT, OK, ONLY_TEXT})
#: Outcomes of messages about a crisis or an emergency. Only `DANGER_AGAIN` limits the answers to these messages.
DANGERS = frozenset({CRISIS, EMERGENCY})

_rows = inbound.c
_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)


@dataclass(frozen=True)
class Budget:
    """The answers that we sent to a phone number in the last 24 hours. Each answer has an outcome and an age."""

    answers: Collection[tuple[str, timedelta]]

    def allows(self, outcome: str) -> bool:
        """Return whether the limits allow another answer with this outcome."""
        if outcome in DANGERS:
            return not any(each == outcome and age < DANGER_AGAIN for each, age in self.answers)
        is_talk = outcome in SMALL_TALK
        per_hour, per_day = (MAX_TALK_PER_HOUR, MAX_TALK_PER_DAY) if is_talk else (MAX_PER_HOUR, MAX_PER_DAY)
        ages = [age for each, age in self.answers if each not in DANGERS and (each in SMALL_TALK) == is_talk]
        return len(ages) < per_day and sum(age < _HOUR for age in ages) < per_hour


def budget(phone: str) -> Budget:
    """Return the recent answers to a number. Hold an advisory lock on the number until the transaction ends."""
    db.session.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(f"inbox:{phone}", 0))))
    now = sa.func.statement_timestamp()
    answered = sa.select(_rows.outcome, now - _rows.handled_at).where(
        _rows.phone == phone,
        _rows.kind == sa.literal_column(f"'{InboundKind.MESSAGE}'"),
        _rows.received_at > now - LATEST,
        _rows.handled_at > now - _DAY,
        _rows.outcome.startswith(ANSWERED),
    )
    rows = db.session.execute(answered.limit(1000)).all()
    return Budget([(outcome.removeprefix(ANSWERED), age) for outcome, age in rows])
