"""Demo occurrences (due times of reminders) of ninety days. Most are done, some are skipped or missed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random
from typing import Any

import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib.local_time import now
from app.pengingat.models import AnsweredVia, Occurrence, OccurrenceState, Pengingat
from dev.demo import crowd

#: `OUTCOMES` contains the frequency of each state of an occurrence, in percent. `UNDELIVERED` is the share (0 to 1) of
#: missed occurrences whose message was not delivered.
OUTCOMES = {OccurrenceState.DONE: 82, OccurrenceState.SKIPPED: 5, OccurrenceState.MISSED: 13}
UNDELIVERED = 0.1
WAYS = {AnsweredVia.APP: 6, AnsweredVia.MESSAGE: 3, AnsweredVia.LINK: 1}


def fill() -> None:
    """Add past occurrences. If the database already has occurrences older than one day, do nothing."""
    if db.session.scalar(sa.select(sa.exists().where(Occurrence.due_at < now() - timedelta(days=1)))):
        return
    chance, since = Random("adherence"), now() - timedelta(days=crowd.DAYS)
    rows: list[dict[str, Any]] = []
    reminders = db.session.scalars(sa.select(Pengingat).order_by(Pengingat.id))
    for reminder in [each for each in reminders if each.schedule.repeats]:
        reminder.created_at = reminder.active_from = since
        rows += _occurrences(reminder, since, chance)
    db.session.execute(sa.insert(Occurrence), rows)


def _occurrences(reminder: Pengingat, since: datetime, chance: Random) -> Iterator[dict[str, Any]]:
    # Leave out the last day, because the scheduler may have planned its occurrences already.
    for due in reminder.schedule.dues(since, now() - timedelta(days=1)):
        state = chance.choices(list(OUTCOMES), list(OUTCOMES.values()))[0]
        is_answered = state is not OccurrenceState.MISSED
        yield {
            "reminder_id": reminder.id,
            "user_id": reminder.user_id,
            "tipe": reminder.tipe,
            "judul": reminder.judul,
            "slot": due.slot,
            "due_at": due.at,
            "day": due.at.astimezone(reminder.zone).date(),
            "state": state,
            "answered_at": due.at + timedelta(minutes=chance.randint(1, 50)) if is_answered else None,
            "answered_via": chance.choices(list(WAYS), list(WAYS.values()))[0] if is_answered else None,
            "undelivered": not is_answered and chance.random() < UNDELIVERED,
            "created_at": due.at - timedelta(hours=36),
        }
