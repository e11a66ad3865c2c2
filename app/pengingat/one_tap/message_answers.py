"""Answers to reminders by message, for example "sudah" in a chat.

The module finds the message that a person answers. An occurrence is one due time of a reminder.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import Any
from zoneinfo import ZoneInfo

import sqlalchemy as sa
from sqlalchemy import orm

from app.core.database import db_time
from app.core.database.session import db
from app.core.errors import NotFound
from app.core.lib.break_links import break_links
from app.core.lib.local_time import JAKARTA
from app.identity import dependents
from app.identity.models import User
from app.notifications.models import Channel, DeliveryState, Receipt, deliveries
from app.pengingat.ledger import answers, bells, rows
from app.pengingat.ledger.schemas import QuickAnswer
from app.pengingat.models import AnsweredVia, Occurrence, OccurrenceState, Pengingat
from app.pengingat.one_tap import links
from app.pengingat.one_tap.links import LIFETIME, AnswerTargets
from app.pengingat.types.registry import TYPES

#: Maximum number of times that are read per person.
LATEST = 100
#: Time after an answer during which the message "not yet" takes the answer back.
UNDO_BY_WORD = timedelta(minutes=60)
#: Times of providers are whole seconds. So a message that was sent in the second of the text counts as sent before it.
SECOND = timedelta(seconds=1)

_of = deliveries.c
_sent_at = sa.func.coalesce(_of.settled_at, _of.due_at)
_of_user = sa.bindparam("of_user", type_=sa.BigInteger)
#: Owner of the reminder: the person who writes the answer, or a dependent of this person.
_person = orm.aliased(User)
_is_theirs = sa.and_(
    dependents.is_received_by(_person, _of_user),
    sa.or_(_person.guardian_id.is_(None), _person.erasure_due_at.is_(None)),  # skip dependents who will be erased
)
_whom = sa.case((_person.id != _of_user, _person.nama_ktp), else_="")
#: Query of the times in the messages to the person's present number, newest message first. A message counts as sent if
#: its outcome is unknown, because the person may have received it.
_read = (
    sa.select(_of.id, _of.provider_ref, Occurrence, Pengingat.details, _whom)
    .join_from(Occurrence, deliveries, Occurrence.id == sa.any_(_of.said))
    .join(_person, _person.id == _of.user_id)
    .join(User, User.id == _of_user)
    .outerjoin(Pengingat, Pengingat.id == Occurrence.reminder_id)
    .where(
        _is_theirs,
        _of.kind == bells.KIND,
        _of.channel == Channel.MESSAGING,
        sa.or_(_of.state == DeliveryState.SENT, _of.unconfirmed_calls > 0),
        _of.receipt.is_distinct_from(Receipt.FAILED.value),
        _of.due_at > sa.bindparam("since", type_=sa.DateTime(timezone=True)),
        _of.due_at < sa.bindparam("until", type_=sa.DateTime(timezone=True)),
        sa.or_(User.phone_changed_at.is_(None), User.phone_changed_at <= _sent_at),
    )
    .order_by(_of.due_at.desc(), _of.id.desc(), sa.func.array_position(_of.said, Occurrence.id))
    .limit(LATEST)
    .options(rows.WITH_NEXT)
    .execution_options(populate_existing=True)
)


class NothingAsked(NotFound):
    message = "Saat ini tidak ada pengingat yang perlu dijawab."


class NoSuchNumber(NotFound):
    """Error: the answer contains a number, but no reminder in the message has this number."""

    def __init__(self, count: int) -> None:
        super().__init__(f"Pesan terakhir memuat {count} pengingat. Balas dengan nomor 1 sampai {count}.")


@dataclass(frozen=True)
class RemindedTime:
    """One occurrence of a reminder, and the names that the person may use for the reminder."""

    row: Occurrence
    names: tuple[str, ...]
    #: Name of the dependent. Empty if the reminder belongs to the person who writes the answer.
    whom: str = ""

    @property
    def via(self) -> AnsweredVia:
        return AnsweredVia.CAREGIVER if self.whom else AnsweredVia.MESSAGE

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.row.timezone) if self.row.timezone else JAKARTA

    @property
    def is_answered(self) -> bool:
        return self.row.state in rows.ANSWERED


@dataclass(frozen=True)
class Conversation:
    """What a message of a person is about."""

    #: Times of the one message that the person answers, in the order of their numbers.
    times: tuple[RemindedTime, ...] = ()
    #: Ids of the times that wait for an answer: pending, or missed and not too late.
    open: frozenset[int] = frozenset()
    #: Times of the last answer of the last hour. Empty if a time of its message or of a newer message is open.
    last_answer: tuple[RemindedTime, ...] = ()
    #: Ids of the times that were answered in the last hour.
    recent: frozenset[int] = frozenset()
    #: Times of all messages of the last 24 hours, by id.
    known: Mapping[int, RemindedTime] = field(default_factory=dict)
    #: True if the person quoted a message or reacted to a message.
    is_quoted: bool = False
    #: True if the quoted message is a reminder that is too old to answer.
    is_too_old: bool = False
    #: True if the quoted message is no reminder to this person.
    is_elsewhere: bool = False

    def numbered(self, numbers: Iterable[int]) -> list[RemindedTime]:
        """Return the times with these numbers. Raise `NoSuchNumber` if the message has fewer times."""
        chosen = list(numbers)
        if any(not 1 <= number <= len(self.times) for number in chosen):
            raise NoSuchNumber(len(self.times))
        return [self.times[number - 1] for number in chosen]


def read(
    user_id: int, *, wrote_at: datetime | None = None, quoted: str | None = None, about: Collection[int] = ()
) -> Conversation:
    """Return what a message of this person is about.

    `quoted` is the provider's id of the quoted message. `about` are ids of times: the message is then about these.
    Otherwise it is about the last message that was sent before the text was written and has a pending time. If no
    message has a pending time, it is about the last one with a missed time, or else about the last one.
    """
    now = db_time.now()
    until = now if quoted or wrote_at is None else wrote_at
    found = db.session.execute(_read, {"of_user": user_id, "since": now - LIFETIME, "until": until + SECOND}).all()
    parts = [(message_id, ref, _time_of(*values)) for message_id, ref, *values in found]
    known = {time.row.id: time for *_, time in parts}
    messages = [[time for *_, time in each] for _, each in groupby(parts, key=itemgetter(0))]
    is_too_old = is_elsewhere = False
    if quoted:
        meant = [time for _, ref, time in parts if ref == quoted]
        if meant:
            messages = [meant]
        else:
            is_too_old = _was_reminder(user_id, quoted)
            is_elsewhere = not is_too_old
    else:
        meant = [known[id_] for id_ in about if id_ in known] if about else _last(messages)
    open_ = frozenset(time.row.id for message in messages for time in message if _is_open(time.row, now))
    recent = frozenset(time.row.id for time in known.values() if _is_recent(time, now))
    answered = _last_answer(messages, open_, recent)
    return Conversation(
        tuple(meant),
        open_,
        tuple(answered),
        recent,
        known,
        bool(quoted),
        is_too_old=is_too_old,
        is_elsewhere=is_elsewhere,
    )


def answer(times: Sequence[RemindedTime], data: QuickAnswer) -> AnswerTargets:
    """Answer these times of one person and return the answered ones. Raise `NothingAsked` if there are none."""
    if not times:
        raise NothingAsked
    first = times[0]
    answered = answers.answer_all([time.row for time in times], data, first.via)
    return AnswerTargets(answered, first.zone, first.via, first.whom)


def undo(times: Sequence[RemindedTime]) -> None:
    """Take back the answers to these times of one person. Raise `NothingToUndo` if there is no answer to take back."""
    answers.undo_all([time.row for time in times], times[0].via)


def answer_button(user_id: int, token: str, data: QuickAnswer) -> AnswerTargets:
    """Answer the occurrences of the message whose button the person pressed.

    Raise `NothingAsked` if the message was sent to another person.
    """
    asked = links.get_targets(token)
    person = sa.select(_whom).where(_person.id == asked.occurrences[0].user_id, _is_theirs)
    whom = db.session.scalar(person, {"of_user": user_id})
    if whom is None:
        raise NothingAsked
    via = AnsweredVia.CAREGIVER if whom else AnsweredVia.MESSAGE
    return replace(asked, via=via, occurrences=answers.answer_all(asked.occurrences, data, via), whom=whom)


def labels(answered: Sequence[Occurrence]) -> list[str]:
    """Return a name of each occurrence: of its medicine, meal, therapy or doctor, or else its title."""
    found = sa.select(Pengingat.id, Pengingat.details).where(Pengingat.id.in_({row.reminder_id for row in answered}))
    details: dict[int | None, Any] = dict(iter(db.session.execute(found)))
    return [
        TYPES[row.tipe].label(details.get(row.reminder_id) or {}, row.slot) or break_links(row.judul)
        for row in answered
    ]


def _last(messages: Sequence[list[RemindedTime]]) -> list[RemindedTime]:
    """Return the last message with a pending time, or else the last one with a missed time, or else the last one."""
    for state in (OccurrenceState.PENDING, OccurrenceState.MISSED):
        if found := next((each for each in messages if any(time.row.state == state for time in each)), None):
            return found
    return next(iter(messages), [])


def _is_open(row: Occurrence, now: datetime) -> bool:
    is_missed = row.state == OccurrenceState.MISSED
    return row.state == OccurrenceState.PENDING or (is_missed and not rows.is_too_late(row, now))


def _is_recent(time: RemindedTime, now: datetime) -> bool:
    at = time.row.answered_at
    return time.is_answered and at is not None and at > now - UNDO_BY_WORD


def _last_answer(
    messages: Sequence[Sequence[RemindedTime]], open_: Collection[int], recent: Collection[int]
) -> list[RemindedTime]:
    """Return the times of the last answer, unless it is an hour old, or its message or a newer one has an open time."""
    answered = [
        (time.row.answered_at, time, messages[: place + 1])
        for place, message in enumerate(messages)
        for time in message
        if time.row.answered_at and time.row.id in recent
    ]
    last = max((at for at, *_ in answered), default=None)
    of_last = [(time, newest) for at, time, newest in answered if at == last]
    if any(time.row.id in open_ for _, newest in of_last[:1] for message in newest for time in message):
        return []
    return list({time.row.id: time for time, _ in of_last}.values())


def _was_reminder(user_id: int, ref: str) -> bool:
    """Return whether the message with this provider id was a reminder to this person, whatever its age."""
    found = sa.select(_of.id).join(_person, _person.id == _of.user_id)
    which = found.where(_of.provider_ref == ref, _of.kind == bells.KIND, _is_theirs).limit(1)
    return db.session.scalar(which, {"of_user": user_id}) is not None


def _time_of(row: Occurrence, details: Any, whom: str) -> RemindedTime:
    name = TYPES[row.tipe].name_of(details or {})
    titles = [row.judul] if len(row.judul.split()) > 1 else []
    return RemindedTime(row, (*titles, *([name] if name else [])), whom)
