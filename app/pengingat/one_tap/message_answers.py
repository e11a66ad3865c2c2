"""Answers to reminders by message, for example "sudah" in a chat.

The module finds the reminders that a person's message can answer. An occurrence is one due time of a reminder.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import sqlalchemy as sa
from sqlalchemy import orm

from app.core.database import db_time
from app.core.database.session import db
from app.core.errors import Conflict, NotFound
from app.core.lib.break_links import break_links
from app.core.lib.local_time import JAKARTA
from app.identity import dependents
from app.identity.models import User
from app.notifications.models import Channel, DeliveryState, Receipt, deliveries
from app.pengingat.ledger import answers, rows
from app.pengingat.ledger.answers import AlreadyClosed
from app.pengingat.ledger.schemas import QuickAnswer
from app.pengingat.models import AnsweredVia, Occurrence, OccurrenceState, Pengingat, occurrences
from app.pengingat.one_tap import links
from app.pengingat.one_tap.links import LIFETIME, AnswerTargets
from app.pengingat.types.registry import TYPES

#: Maximum time by which a reminder may be sent before its `due_at`. A reminder is early if it is sent together with an
#: earlier reminder of the same minute, or if the clock of the message provider is slow.
AHEAD = timedelta(minutes=2)

#: Maximum number of sent messages that are read per person.
LATEST = 100

#: Time after an answer during which the message "not yet" takes the answer back.
UNDO_BY_WORD = timedelta(minutes=60)

_rows, _of = occurrences.c, deliveries.c
_sent_at = sa.func.coalesce(_of.settled_at, _of.due_at)
_of_user, _since, _until = (
    sa.bindparam("of_user", type_=sa.BigInteger),
    sa.bindparam("since", type_=sa.DateTime(timezone=True)),
    sa.bindparam("until", type_=sa.DateTime(timezone=True)),
)
#: Owner of the reminder: the person who writes the answer, or a dependent of this person.
_person = orm.aliased(User)
_is_theirs = sa.and_(
    dependents.is_received_by(_person, _of_user),
    sa.or_(_person.guardian_id.is_(None), _person.erasure_due_at.is_(None)),  # skip dependents who will be erased
)
_whom = sa.case((_person.id != _of_user, _person.nama_ktp)).label("whom")
_time = (*_rows, rows.NEXT_AT.label("next_at"), Pengingat.timezone.label("zone"), Pengingat.details, _whom)
_delivery = (
    _sent_at.label("sent_at"),
    _of.due_at.label("left_at"),
    _of.provider_ref,
    _of.id.label("delivery_id"),
    _of.claim_token,
)
_sent = (
    sa.select(*_time, *_delivery)
    .join_from(occurrences, deliveries, _of.occurrence_id == _rows.id)
    .join(_person, _person.id == _of.user_id)
    .join(User, User.id == _of_user)
    .outerjoin(Pengingat, Pengingat.id == _rows.reminder_id)
    .where(
        _is_theirs,
        _of.channel == Channel.MESSAGING,
        sa.or_(_of.state == DeliveryState.SENT, _of.unconfirmed_calls > 0),
        _of.receipt.is_distinct_from(Receipt.FAILED.value),
        _sent_at > _since,
        _of.due_at <= _until,
        sa.or_(User.phone_changed_at.is_(None), User.phone_changed_at <= _sent_at),
    )
    .order_by(_sent_at.desc(), _of.due_at, _of.id)
    .limit(LATEST)
    .subquery()
)
#: Query of the occurrences that a message can answer or undo. They are the unanswered occurrences, and the occurrences
#: that were answered by message in the last hour. The result includes occurrences without a sent message, because an
#: answer also applies to other occurrences of the same minute.
_aside = (
    sa.select(*_time, *(sa.cast(sa.null(), column.type).label(column.name) for column in _delivery))
    .join_from(occurrences, Pengingat, Pengingat.id == _rows.reminder_id)
    .join(_person, _person.id == _rows.user_id)
    .where(
        _is_theirs,
        _rows.due_at > _since,
        _rows.due_at <= _until,
        sa.or_(
            _rows.state == OccurrenceState.PENDING,
            _rows.state == OccurrenceState.MISSED,
            sa.and_(
                sa.or_(_rows.answered_via == AnsweredVia.MESSAGE, _rows.answered_via == AnsweredVia.CAREGIVER),
                _rows.answered_at > sa.bindparam("undo_since", type_=sa.DateTime(timezone=True)),
            ),
        ),
    )
    .order_by(_rows.due_at.desc(), _rows.id)
    .limit(LATEST)
    .subquery()
)
_both = sa.union_all(sa.select(_sent), sa.select(_aside)).subquery()
_read = sa.select(_both).order_by(_both.c.sent_at.desc().nulls_last(), _both.c.left_at, _both.c.delivery_id)


class NothingAsked(NotFound):
    message = "Saat ini tidak ada pengingat yang perlu dijawab."


class NoSuchNumber(NotFound):
    """Error: the answer contains a number, but no reminder in the last message has this number."""

    def __init__(self, count: int) -> None:
        super().__init__(f"Pesan terakhir memuat {count} pengingat. Balas dengan nomor 1 sampai {count}.")


@dataclass(frozen=True)
class RemindedTime:
    """One occurrence of a reminder, and the names that the person may use for the reminder."""

    row: Occurrence
    zone: ZoneInfo
    names: tuple[str, ...]
    #: Name of the dependent. Empty if the reminder belongs to the person who writes the answer.
    whom: str = ""

    @property
    def via(self) -> AnsweredVia:
        return AnsweredVia.CAREGIVER if self.whom else AnsweredVia.MESSAGE


@dataclass(frozen=True)
class SentMessage:
    """Message with one or more occurrences, in the order of their numbers in the message."""

    times: tuple[RemindedTime, ...]
    sent_at: datetime
    refs: frozenset[str]

    def has_any(self, ids: Collection[int]) -> bool:
        return any(time.row.id in ids for time in self.times)

    def has(self, state: OccurrenceState) -> bool:
        return any(time.row.state == state for time in self.times)


@dataclass(frozen=True)
class Conversation:
    """Occurrences that a person can answer by message."""

    #: Occurrences to which an answer without a name and without a number applies.
    meant: tuple[RemindedTime, ...] = ()
    #: Occurrences of the message that the person answers, in the order of their numbers. An answer can select them by
    #: number. Empty if the message has only one occurrence.
    numbered: tuple[RemindedTime, ...] = ()
    #: Pending occurrences of other messages: one tuple for each message, the newest message first.
    others: tuple[tuple[RemindedTime, ...], ...] = ()
    #: Occurrences that the last answer was about. Empty if the message "not yet" cannot take that answer back.
    undoable: tuple[RemindedTime, ...] = ()
    #: Ids of pending occurrences, and of missed occurrences that are not too late to answer.
    waiting: frozenset[int] = frozenset()
    #: True if the person quoted a reminder that is too old to answer.
    is_too_old: bool = False
    #: True if the person quoted a message that is not a reminder, for example an alert about a patient.
    is_elsewhere: bool = False
    #: True if the person quoted a reminder or reacted to a reminder.
    is_quoted: bool = False

    def named(self, numbers: Iterable[int]) -> list[int]:
        """Return the ids of the occurrences with these numbers. Raise `NoSuchNumber` if a number is out of range."""
        chosen = list(numbers)
        if any(not 1 <= number <= len(self.numbered) for number in chosen):
            raise NoSuchNumber(len(self.numbered))
        return [self.numbered[number - 1].row.id for number in chosen]

    def times(self, ids: Iterable[int], status: str) -> list[RemindedTime]:
        """Return the occurrences with these ids, for an answer with this status.

        Raise `AlreadyClosed` if the quoted reminder is too old. Raise `NothingAsked` if no occurrence has one of these
        ids. If no occurrence waits for an answer, the new answer must not change an earlier answer. In this case, also
        raise `NothingAsked`. An answer that quotes a reminder may always change the earlier answer.
        """
        if self.is_too_old:
            raise AlreadyClosed
        changes_answer = any(_is_answered(time) and time.row.state != status for time in self.meant)
        if changes_answer and not self.waiting and not self.is_quoted:
            raise NothingAsked
        wanted = set(ids)
        found = {time.row.id: time for group in (self.meant, self.numbered, *self.others) for time in group}
        if chosen := [time for id_, time in found.items() if id_ in wanted]:
            return chosen
        raise NothingAsked


def read(
    user_id: int, *, wrote_at: datetime | None = None, quoted: str | None = None, about: Collection[int] = ()
) -> Conversation:
    """Return the occurrences that a message from this person can answer.

    `wrote_at` is the time of the message, by default now. `quoted` is the provider's id of the quoted message. `about`
    are ids of occurrences. The answer is then about the message with one of these occurrences, if there is one.
    """
    now = db_time.now()
    messages, aside = _messages(user_id, now, wrote_at or now)
    if quoted:
        if found := next((message for message in messages if quoted in message.refs), None):
            return replace(_conversation(found, found.times, now, newer=(), others=(), aside=()), is_quoted=True)
        if (was_reminder := _was_reminder(user_id, quoted)) is not None:
            return Conversation(is_too_old=was_reminder, is_elsewhere=not was_reminder)
    message = next((each for each in messages if each.has_any(about)), None) or _last(messages)
    if message is None:
        return Conversation()
    meant = [*message.times, *_others_of_its_minute(message, aside)]
    return _conversation(message, meant, now, newer=messages, others=messages, aside=aside)


def list_answered(user_id: int, answered_at: Mapping[int, datetime]) -> list[RemindedTime]:
    """Return the occurrences with these ids whose answer was given at this time. Other answers are left out."""
    now = db_time.now()
    messages, aside = _messages(user_id, now, now)
    times = {time.row.id: time for time in (*(time for message in messages for time in message.times), *aside)}
    return [
        time
        for id_, time in times.items()
        if id_ in answered_at and _is_answered(time) and time.row.answered_at == answered_at[id_]
    ]


def answer(times: Sequence[RemindedTime], data: QuickAnswer) -> AnswerTargets:
    """Answer these occurrences and return the answered ones.

    Raise `NothingAsked` if `times` is empty. If the answer is refused for all occurrences, raise the first error.
    """
    if not times:
        raise NothingAsked
    return _for_each_person(times, lambda asked, via: answers.answer_all(asked, data, via))


def labels(rows: Sequence[Occurrence]) -> list[str]:
    """Return a name of each occurrence: of its medicine, meal, therapy or doctor, or else its title."""
    found = sa.select(Pengingat.id, Pengingat.details).where(Pengingat.id.in_({row.reminder_id for row in rows}))
    details: dict[int | None, Any] = dict(iter(db.session.execute(found)))
    return [
        TYPES[row.tipe].label(details.get(row.reminder_id) or {}, row.slot) or break_links(row.judul) for row in rows
    ]


def undo(times: Sequence[RemindedTime]) -> AnswerTargets:
    """Take back the answers to these occurrences. Raise `NothingToUndo` if there is no answer to take back."""
    return _for_each_person(times, answers.undo_all)


def answer_button(user_id: int, token: str, data: QuickAnswer) -> AnswerTargets:
    """Answer the occurrences of the message whose button the person pressed.

    Raise `NothingAsked` if the message was sent to another person.
    """
    asked = links.get_targets(token)
    person_id = asked.occurrences[0].user_id
    person = sa.select(_whom).where(_person.id == person_id, _is_theirs)
    row = db.session.execute(person, {"of_user": user_id}).one_or_none()
    if row is None:
        raise NothingAsked
    via = AnsweredVia.CAREGIVER if row.whom else AnsweredVia.MESSAGE
    answered = answers.answer_all(asked.occurrences, data, via)
    return replace(asked, via=via, occurrences=answered, whom=row.whom or "")


def _for_each_person(
    times: Sequence[RemindedTime], record: Callable[[list[Occurrence], AnsweredVia], Sequence[Occurrence]]
) -> AnswerTargets:
    """Record an answer for each owner of the occurrences, because a caregiver may answer for several people at once.

    Return the answered occurrences. If all are refused, raise the first error.
    """
    people: dict[int, list[RemindedTime]] = {}
    for time in times:
        people.setdefault(time.row.user_id, []).append(time)
    recorded: list[Occurrence] = []
    refusals: list[Conflict] = []
    for each in people.values():
        try:
            with db.session.begin_nested() if len(people) > 1 else nullcontext():
                recorded += record([time.row for time in each], each[0].via)
        except Conflict as refusal:
            refusals.append(refusal)
    if not recorded:
        raise refusals[0]
    names = {people[row.user_id][0].whom for row in recorded}
    return AnswerTargets(recorded, times[0].zone, times[0].via, names.pop() if len(names) == 1 else "")


def _conversation(
    message: SentMessage,
    meant: Sequence[RemindedTime],
    now: datetime,
    *,
    newer: Sequence[SentMessage],
    others: Sequence[SentMessage],
    aside: Sequence[RemindedTime],
) -> Conversation:
    """Return what a person can answer in reply to this message.

    The answer may name reminders in the messages `others`. If a message in `newer` was sent after the last answered
    message and has a pending occurrence, an undo is impossible.
    """
    inside = {time.row.id for time in meant}
    groups = [[time for time in other.times if _is_pending(time) and time.row.id not in inside] for other in others]
    return Conversation(
        meant=tuple(meant),
        numbered=message.times if len(message.times) > 1 else (),
        others=tuple(tuple(group) for group in groups if group),
        undoable=_undoable(others or [message], newer, aside, now),
        waiting=_waiting([*meant, *(time for group in groups for time in group)], now),
    )


def _last(messages: Sequence[SentMessage]) -> SentMessage | None:
    """Return the last message with a pending occurrence, or else the last message with a missed occurrence.

    If all occurrences are answered, return the last message.
    """
    for state in (OccurrenceState.PENDING, OccurrenceState.MISSED):
        if found := next((message for message in messages if message.has(state)), None):
            return found
    return next(iter(messages), None)


def _others_of_its_minute(message: SentMessage, aside: Sequence[RemindedTime]) -> list[RemindedTime]:
    """Return the occurrences in `aside` whose owner and due minute also occur in the message.

    If the message has pending occurrences, return only pending occurrences. Otherwise return only missed occurrences.
    Leave out the occurrences in the message itself.
    """
    state = next((state for state in (OccurrenceState.PENDING, OccurrenceState.MISSED) if message.has(state)), None)
    minutes = {_minute(time) for time in message.times}
    inside = {time.row.id for time in message.times}
    people = {time.row.user_id for time in message.times}
    others = (time for time in aside if time.row.state == state and time.row.id not in inside)
    return [time for time in others if _minute(time) in minutes and time.row.user_id in people]


def _minute(time: RemindedTime) -> datetime:
    return time.row.due_at.replace(second=0, microsecond=0)


def _was_reminder(user_id: int, ref: str) -> bool | None:
    """Return whether the message with this provider id was a reminder. Return None if there is no such message.

    Only messages to this person are searched. Their age does not matter.
    """
    found = sa.select(_of.occurrence_id.is_not(None)).join(_person, _person.id == _of.user_id)
    which = found.where(_of.provider_ref == ref, _is_theirs).limit(1)
    return db.session.scalar(which, {"of_user": user_id})


def _undoable(
    messages: Sequence[SentMessage], newer: Sequence[SentMessage], aside: Sequence[RemindedTime], now: datetime
) -> tuple[RemindedTime, ...]:
    """Return the occurrences that the last answer to these messages was about, for an undo.

    The last answer may also be about occurrences in `aside`. If a message in `newer` was sent after the answered
    message and has a pending occurrence, the result is empty.
    """
    answered = [
        (time.row.answered_at, message.sent_at, time)
        for message in messages
        for time in message.times
        if _is_answered(time) and time.row.answered_at is not None
    ]
    last = max((at for at, *_ in answered), default=None)
    if last is None or last <= now - UNDO_BY_WORD:
        return ()
    sent_at = max(sent_at for at, sent_at, _ in answered if at == last)
    if any(message.sent_at > sent_at and message.has(OccurrenceState.PENDING) for message in newer):
        return ()
    times = [*(time for *_, time in answered), *aside]
    return tuple({time.row.id: time for time in times if time.row.answered_at == last}.values())


def _waiting(times: Sequence[RemindedTime], now: datetime) -> frozenset[int]:
    """Return the ids of pending occurrences, and of missed occurrences that are not too late to answer."""
    return frozenset(time.row.id for time in times if _is_pending(time) or _is_late_but_open(time, now))


def _is_late_but_open(time: RemindedTime, now: datetime) -> bool:
    return time.row.state == OccurrenceState.MISSED and not rows.is_too_late(time.row, now)


def _is_answered(time: RemindedTime) -> bool:
    return time.row.state in (OccurrenceState.DONE, OccurrenceState.SKIPPED)


def _is_pending(time: RemindedTime) -> bool:
    return time.row.state == OccurrenceState.PENDING


def _messages(user_id: int, now: datetime, wrote_at: datetime) -> tuple[list[SentMessage], list[RemindedTime]]:
    """Return the messages sent to the person's present number, newest first, and the result of the query `_aside`.

    A message counts as sent if its outcome is unknown, because the person may have received it.
    """
    values = {
        "of_user": user_id,
        "since": now - LIFETIME,
        "until": wrote_at + AHEAD,
        "undo_since": now - UNDO_BY_WORD,
    }
    found = db.session.execute(_read, values).all()
    aside: list[RemindedTime] = []
    # All outbox rows that were sent as one message have the same claim token.
    messages: dict[object, list[tuple[RemindedTime, datetime, str | None]]] = {}
    for *columns, sent_at, _, ref, delivery_id, claim_token in found:
        time = _time_of(columns)
        if sent_at is None:
            aside.append(time)
        else:
            messages.setdefault(claim_token or delivery_id, []).append((time, sent_at, ref))
    sent = [
        SentMessage(
            times=tuple({time.row.id: time for time, *_ in parts}.values()),
            sent_at=max(sent_at for _, sent_at, _ in parts),
            refs=frozenset(ref for *_, ref in parts if ref),
        )
        for parts in messages.values()
    ]
    return sent, aside


def _time_of(values: Sequence[Any]) -> RemindedTime:
    *columns, next_at, zone, details, whom = values
    row = Occurrence(**dict(zip(_rows.keys(), columns, strict=True)), next_at=next_at)
    name = TYPES[row.tipe].name_of(details or {})
    names = [*([row.judul] if len(row.judul.split()) > 1 else []), *([name] if isinstance(name, str) else [])]
    return RemindedTime(row, ZoneInfo(zone) if zone else JAKARTA, tuple(names), whom or "")
