"""Answers by one tap, without a login: by the link of a message, or from a push."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from app.core.database import clock as database_clock
from app.core.database.session import db
from app.core.errors import Conflict, Gone, NotFound
from app.core.lib.clock import JAKARTA
from app.identity import erasure
from app.identity.models import User
from app.pengingat import answers, ledger
from app.pengingat.answers import AlreadyClosed
from app.pengingat.ledger_schemas import LinkAnswer, NewAnswer, QuickAnswer
from app.pengingat.models import AnsweredVia, Occurrence, Pengingat, State
from app.pengingat.tokens import hash_of, link_token_of

#: How long after an occurrence fell due its link is of use.
LIFETIME = timedelta(hours=24)

NOT_FOUND = "Tautan ini tidak kami temukan. Coba buka lagi dari pesan kami yang terbaru."
EXPIRED = "Tautan ini sudah tidak berlaku."


@dataclass(frozen=True)
class Asked:
    """What a token is about: what its person was reminded of at one minute, or by one message."""

    occurrences: Sequence[Occurrence]
    zone: ZoneInfo
    via: AnsweredVia


def look(token: str) -> Asked:
    """What a token asks; it changes nothing, however often it is previewed. `NotFound`, or `Gone` after a day.

    While its person is leaving it is not known either: a message is seen by others, too.
    """
    return _asked(token, database_clock.now())


def too_late(asked: Asked) -> set[int]:
    """The ids of those that were missed and can be answered no more."""
    return ledger.too_late([row.id for row in asked.occurrences], database_clock.now())


def answer(token: str, data: QuickAnswer) -> LinkAnswer:
    """Answer what is open of a token, as `answer_all` does. The same answer again changes nothing."""
    now = database_clock.now()
    first = answer_all(_asked(token, now), data, now)[0]
    return {
        "status": data.status,
        "tipe": first.tipe,
        "due_at": first.due_at,
        "state": first.state,
        "snoozed_until": first.snoozed_until,
    }


def answer_all(asked: Asked, data: QuickAnswer, now: datetime) -> list[Occurrence]:
    """Answer what is open, else what was missed, else change the answers there are. Return the answered occurrences.

    Raise the first refusal if none could be answered.
    """
    reminders = _locked(asked.occurrences)
    rows = [(reminders[row.reminder_id], row) for row in asked.occurrences if row.reminder_id in reminders]
    is_open = [each for each in rows if each[1].state == State.PENDING]
    missed = [each for each in rows if each[1].state == State.MISSED]
    said = NewAnswer(data.status, data.minutes)
    refusals: list[Conflict] = []
    for which in [is_open] if is_open else [missed, rows]:
        answered = []
        for pengingat, row in which:
            try:
                answered.append(answers.answer(pengingat, row, said, asked.via, now))
            except Conflict as refusal:  # what else falls due at this minute may still be open
                refusals.append(refusal)
        if answered:
            return answered
    raise refusals[0] if refusals else AlreadyClosed


def _asked(token: str, now: datetime) -> Asked:
    by_link, by_push = hash_of(token), hash_of(link_token_of(token))
    rows = db.session.execute(
        sa.select(Occurrence, Pengingat.timezone)
        .join(User, sa.and_(User.id == Occurrence.user_id, erasure.IS_PRESENT))
        .outerjoin(Pengingat, Pengingat.id == Occurrence.reminder_id)
        .where(sa.or_(Occurrence.link_hash.in_([by_link, by_push]), Occurrence.shared_links.contains([by_link])))
        .order_by(Occurrence.due_at, Occurrence.id)
    ).all()
    if not rows:
        raise NotFound(NOT_FOUND)
    occurrences = [row for row, _ in rows]
    if max(row.due_at for row in occurrences) + LIFETIME < now:
        raise Gone(EXPIRED)
    zones = [zone for _, zone in rows if zone]
    via = AnsweredVia.PUSH if occurrences[0].link_hash == by_push else AnsweredVia.LINK
    return Asked(occurrences, ZoneInfo(zones[0]) if zones else JAKARTA, via)


def _locked(occurrences: Sequence[Occurrence]) -> dict[int | None, Pengingat]:
    """The reminders, held in one order behind their person; and the occurrences as they are then."""
    ids = [row.reminder_id for row in occurrences if row.reminder_id is not None]
    person = sa.select(User.id).where(User.id == occurrences[0].user_id).with_for_update(key_share=True)
    if db.session.scalar(person) is None:
        raise NotFound(NOT_FOUND)
    held = sa.select(Pengingat).where(Pengingat.id.in_(ids)).order_by(Pengingat.id).with_for_update(key_share=True)
    reminders = db.session.scalars(held, execution_options={"populate_existing": True}).all()
    again = sa.select(Occurrence).where(Occurrence.id.in_([row.id for row in occurrences]))
    db.session.scalars(again, execution_options={"populate_existing": True}).all()
    return {reminder.id: reminder for reminder in reminders}
