"""Demo reminders of the patient siti and of some people of the crowd, with ninety days of history."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from random import Random
from typing import Any

import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib.local_time import now
from app.pengingat import service
from app.pengingat.models import AnsweredVia, Occurrence, OccurrenceState, Pengingat
from app.pengingat.types.kontrol import Kontrol
from app.pengingat.types.obat import Obat
from app.pengingat.types.registry import TYPES
from dev.demo import people
from dev.demo.people import person

#: Number of people of the crowd with reminders. It is small, so that the page of sent messages (outbox) stays short.
OTHERS = 12

#: Frequency of each state of an occurrence, in percent.
OUTCOMES = {OccurrenceState.DONE: 82, OccurrenceState.SKIPPED: 5, OccurrenceState.MISSED: 13}
WAYS = {AnsweredVia.APP: 6, AnsweredVia.MESSAGE: 3, AnsweredVia.LINK: 1}


def fill() -> None:
    chance = Random("reminders")  # a fixed seed, so that the same reminders are created each time
    for tipe in TYPES:
        _add(person("siti").id, tipe, days=3)
    for number, username in enumerate(people.PATIENTS[:OTHERS]):
        user_id = person(username).id
        _add(user_id, Kontrol.name, days=5 + number)
        medicine = _add(user_id, Obat.name, days=0)
        if number % 2:
            service.update(user_id, medicine.id, {"is_done": True})
    rows: list[dict[str, Any]] = []
    for reminder in db.session.scalars(sa.select(Pengingat).order_by(Pengingat.id)):
        if reminder.schedule.repeats:
            rows += _history(reminder, chance)
    db.session.execute(sa.insert(Occurrence), rows)


def _add(user_id: int, tipe: str, days: int) -> Pengingat:
    """Create the example reminder of a type. A visit is in `days` days, because the example's visit is years away."""
    example = TYPES[tipe].example
    details = {name: value for name, value in example["details"].items() if name != "datetime"}
    judul, soon = example["judul"], now() + timedelta(days=days)
    return service.create(
        user_id, {"tipe": tipe, "judul": judul, "timezone": "Asia/Jakarta", "details": details, "waktu": soon}
    )


def _history(reminder: Pengingat, chance: Random) -> Iterator[dict[str, Any]]:
    since = reminder.created_at = reminder.active_from = now() - timedelta(days=people.DAYS)
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
            "undelivered": not is_answered and chance.random() < 0.1,
            "created_at": due.at - timedelta(hours=36),
        }
