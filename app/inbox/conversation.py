"""Handler of the messages that users write to us. Users who opted out of our messages get answers too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import cast

import sqlalchemy as sa

from app.accounts import moves, verification
from app.core.database.session import db
from app.core.errors import AppError
from app.forum.service import crisis
from app.identity import notification_settings
from app.identity.consents import ConsentSource
from app.identity.models import User
from app.inbox import commands, limits, previous, reading, texts
from app.inbox.commands import MessageReply
from app.inbox.jobs import IGNORED
from app.inbox.reading import CandidateTime, Meaning, Word
from app.notifications import outbox
from app.notifications.models import Channel, Inbound, inbound
from app.notifications.senders import numbers
from app.pengingat.ledger.answers import AlreadyClosed
from app.pengingat.ledger.schemas import QuickAnswer
from app.pengingat.one_tap import message_answers
from app.pengingat.one_tap.message_answers import Conversation, RemindedTime

KIND = "answer"
#: Maximum age of an answer that is not sent yet. After an hour the user no longer waits for it.
LIFETIME = timedelta(hours=1)
#: Maximum time between the writing of a message and its receipt. A later message records nothing, unless it quotes a
#: reminder.
LATEST = timedelta(days=1)

#: Commands about the phone number. A new owner of the number may send these commands too. So they do not prove that the
#: owner of the account still uses the number.
OF_NUMBERS = frozenset({Word.VERIFY, Word.RESET, Word.WRONG_NUMBER})

UNKNOWN_SENDER = "unknown sender"
#: Outcome of an answer while no reminder needs one.
NOTHING_OPEN = "nothing open"
#: Outcome of an edit that has the same meaning as the earlier version of the message.
UNCHANGED = "unchanged"
UNDO = "undo"
#: Message types that contain only text.
WORDS = frozenset({"text", "button", "interactive"})
#: Types of messages that people send without text. The last type is Fonnte's. Other types without text are events that
#: no person wrote. For example, `system` reports that a person has changed the phone number.
MEDIA = frozenset({"audio", "voice", "image", "video", "sticker", "document", "location", "contacts", "media"})
#: Our answers to an answer to a reminder, by its meaning.
SAY = {Word.DONE: texts.done, Word.SKIP: texts.skipped, Word.SNOOZE: texts.snoozed}
#: Key in the payload of a message without text. The value contains the ids of the reminders that were open when the
#: service answered that it reads only text.
ASKED = "asked"


def handle(row: Inbound) -> str:
    """Apply a message and answer it. Return the outcome, which the caller stores with the message."""
    is_by_person = row.text or row.payload.get("type") in WORDS | MEDIA | {previous.REACTION}
    if row.phone is None or not is_by_person:
        return IGNORED
    numbers.record_message(row.phone, previous.wrote_at(row))
    sender = _sender(row.phone)
    budget = limits.budget(row.phone)
    danger = row.payload.get("danger") or crisis.kind_of(row.text or "")
    # Answer danger first, because an error below must not prevent the answer. An unknown sender gets help in a crisis.
    if danger == limits.CRISIS or (danger == limits.EMERGENCY and sender):
        lines = crisis.help_lines if danger == limits.CRISIS else crisis.emergency_lines
        return _send_answer(row, row.phone, MessageReply(danger, lines(sender.domicile if sender else None)), budget)
    command = reading.read(row.text or "")
    if command.word is Word.VERIFY:
        proof, text = verification.confirm_by_message(row.phone, command.code)
        return _send_answer(row, row.phone, MessageReply(f"verify {proof}", text), budget)
    if sender is None:
        if command.word is Word.WRONG_NUMBER:
            # Flag the number as wrong. The flag also applies to an account that takes the number later.
            moves.refuse(row.phone)
        return UNKNOWN_SENDER
    if command.word not in OF_NUMBERS:
        numbers.record_use(row.phone)
    return _send_answer(row, row.phone, _reply(row, row.phone, sender, command.word, budget), budget)


def _reply(row: Inbound, phone: str, sender: User, command: Word, budget: limits.Budget) -> MessageReply:
    """Apply a message of a known sender, and remember what it meant.

    A message that replaces an earlier one first takes back what the earlier one recorded.
    """
    earlier, is_reaction = previous.earlier_version(row), row.payload.get("type") == previous.REACTION
    if earlier and previous.is_outdated(row, earlier):
        return MessageReply(IGNORED, None)
    asked = _read(row, sender, earlier)
    times = previous.standing(earlier, asked)
    is_same = earlier and _meaning(row, asked) == _meaning(earlier, asked) and (times or not is_reaction)
    taken_back = bool(times) and not is_same and _try(_undo, times).outcome == UNDO
    if taken_back:
        asked = replace(_read(row, sender, earlier), last_answer=())  # no other answer is taken back too
    if is_same:
        reply = MessageReply(UNCHANGED, None, tuple(time.row for time in times))
    elif is_reaction:
        reply = _react(row, sender, asked)
    elif done := commands.act(command, sender.id, phone, budget):
        reply = done
    elif row.payload.get("type") in MEDIA and not row.text:
        reply = _ask_for_words(row, asked)
    else:
        is_late = row.received_at - previous.wrote_at(row) > LATEST and not _quoted(row)
        asked = replace(asked, is_elsewhere=asked.is_elsewhere or is_late)
        repeated = None if earlier or _quoted(row) or is_late else _repeat(row, sender)
        reply = repeated or _try(_act, sender, _meaning(row, asked), asked)
    if taken_back and (is_reaction or reply.text is None or reply.outcome == Word.NOT_YET):
        reply = MessageReply(UNDO, texts.UNDONE)
    previous.remember(row, _quoted(row) or (_quoted(earlier) if earlier else None), asked, reply.recorded)
    return reply


def _read(row: Inbound, sender: User, earlier: Inbound | None = None) -> Conversation:
    """Return what a message is about. An edit is about the times of the earlier version."""
    if earlier is None:
        return message_answers.read(sender.id, wrote_at=previous.wrote_at(row), quoted=_quoted(row))
    quoted, about = _quoted(row) or _quoted(earlier), previous.meant(earlier)
    return message_answers.read(sender.id, wrote_at=previous.wrote_at(earlier), quoted=quoted, about=about)


def _meaning(row: Inbound, asked: Conversation) -> Meaning:
    times = [CandidateTime(time.row.id, time.row.tipe, time.names) for time in asked.times]
    return reading.read(row.text or "", times, str(row.payload.get("pressed", "")))


def _repeat(row: Inbound, sender: User) -> MessageReply | None:
    """Repeat the answer of the last two minutes to the same text. Return None if there is none that still stands."""
    for earlier in previous.list_recorded(row):
        asked = _read(row, sender, earlier)
        meaning, before = _meaning(row, asked), _meaning(earlier, asked)
        times = previous.standing(earlier, asked)
        if times and meaning.word in SAY and meaning == replace(before, token=None):
            return _try(_answer, sender, meaning, asked, times)
    return None


def _send_answer(row: Inbound, phone: str, reply: MessageReply, budget: limits.Budget) -> str:
    """Send the answer, unless the limits forbid it. Return the outcome, which is stored with the message."""
    if reply.text is None or not budget.allows(reply.outcome):
        return reply.outcome
    outbox.send(
        outbox.NewDelivery(
            kind=KIND,
            channel=Channel.MESSAGING,
            dedupe_key=f"{KIND}:{row.id}",
            words={"text": reply.text},
            target=phone,
            expires_in=LIFETIME,
        )
    )
    return f"{limits.ANSWERED}{reply.outcome}"


def prefer(row: Inbound) -> str:
    """Switch broadcasts on or off, as the user chose in WhatsApp's own menu. Send no answer."""
    sender = _sender(row.phone) if row.phone else None
    if sender is None:
        return UNKNOWN_SENDER
    on = row.payload.get("wish") == "resume"
    notification_settings.switch_broadcasts(sender.id, on, way=ConsentSource.MESSAGE)
    return Word.START if on else Word.STOP


def _sender(phone: str) -> User | None:
    return db.session.scalars(sa.select(User).where(User.phone == phone)).one_or_none()


def _quoted(row: Inbound) -> str | None:
    """Return the provider's id of the message that this message quotes or reacts to."""
    return str(row.payload.get("about") or "") or None


# --- answers to reminders -------------------------------------------------------------------------------------------


def _try(act: Callable[..., MessageReply], *values: object) -> MessageReply:
    """Return the reply of this function, or the sentence with which it refuses. A refusal rolls its changes back."""
    try:
        with db.session.begin_nested():
            return act(*values)
    except message_answers.NothingAsked as nothing:
        return MessageReply(NOTHING_OPEN, nothing.message)
    except AppError as refusal:  # the error's message is written for users
        return MessageReply(f"refused {refusal.code}", refusal.message)


def _act(sender: User, meaning: Meaning, asked: Conversation) -> MessageReply:
    if meaning.word is Word.COURTESY:
        return MessageReply(meaning.word, None)
    if meaning.word is Word.CONDOLENCE:
        return MessageReply(meaning.word, texts.CONDOLENCE)
    if meaning.token:
        return _answer(sender, meaning, asked)
    if asked.is_elsewhere:
        return _ask_back(asked)
    if asked.is_too_old and meaning.word in {*SAY, Word.NOT_YET}:
        raise AlreadyClosed
    match meaning.word:
        case Word.SNOOZE if not asked.open and meaning.says_not_yet and asked.last_answer:
            return _ask_back(asked)
        case Word.SNOOZE if (asked.open or asked.is_quoted) and not 5 <= meaning.minutes <= 120:
            return MessageReply("refused range", texts.RANGE)
        case Word.DONE | Word.SKIP | Word.SNOOZE:
            return _answer(sender, meaning, asked)
        case Word.NOT_YET if times := _taken_back(meaning, asked):
            return _undo(times)
        case Word.NOT_YET if asked.open:
            return MessageReply(meaning.word, texts.not_yet(sender.nama_ktp))
        case Word.NOT_YET:
            raise message_answers.NothingAsked
        case Word.OK:  # only polite if no reminder is open
            return MessageReply(limits.OK, texts.ok(sender.nama_ktp) if asked.open else None)
    return _ask_back(asked)


def _taken_back(meaning: Meaning, asked: Conversation) -> Sequence[RemindedTime]:
    """Return the times whose answer "not yet" takes back: those that the text names, or all of the last answer."""
    if not meaning.named:
        return asked.last_answer
    return [asked.known[id_] for id_ in meaning.named if id_ in asked.recent]


def _ask_back(asked: Conversation) -> MessageReply:
    """Ask what a text means. If no reminder is open and none was answered in the last hour, send the help text."""
    if asked.last_answer:
        return MessageReply(limits.DOUBT, texts.DOUBT_ANSWERED)
    return MessageReply(limits.DOUBT, texts.DOUBT) if asked.open or asked.is_elsewhere else commands.HELP


def _answer(sender: User, meaning: Meaning, asked: Conversation, times: Sequence[RemindedTime] = ()) -> MessageReply:
    """Record an answer to these times, by default to the times that the text means."""
    data = QuickAnswer(meaning.word, meaning.minutes)
    before = {time.row.id: time.row.answered_at for time in asked.known.values()}
    if meaning.token:
        answered = message_answers.answer_button(sender.id, meaning.token, data)
    else:
        answered = message_answers.answer(times or _times(meaning, asked, data.status), data)
    recorded = tuple(row for row in answered.occurrences if row.answered_at != before.get(row.id))
    return MessageReply(data.status, SAY[meaning.word](sender.nama_ktp, answered), recorded)


def _times(meaning: Meaning, asked: Conversation, status: str) -> Sequence[RemindedTime]:
    """Return the times that an answer is about. If nothing is open, an answer may be repeated, but not changed."""
    times = asked.numbered(meaning.numbers) if meaning.numbers else asked.times
    times = [time for time in times if not meaning.named or time.row.id in meaning.named]
    is_change = any(time.row.state != status for time in times)
    if is_change and not asked.open and not asked.is_quoted:
        raise message_answers.NothingAsked
    return times


def _undo(times: Sequence[RemindedTime]) -> MessageReply:
    message_answers.undo(times)
    return MessageReply(UNDO, texts.UNDONE)


def _react(row: Inbound, sender: User, asked: Conversation) -> MessageReply:
    """Apply an emoji reaction to a reminder. A check mark means that the reminder is done."""
    word = reading.read_reaction(row.text or "")
    if not asked.times or word is Word.DOUBT:
        return MessageReply(previous.REACTION, None)
    return _try(_act, sender, Meaning(word), asked)


def _ask_for_words(row: Inbound, asked: Conversation) -> MessageReply:
    """Answer a message without text, for example a photo. The answer says that the service reads only text.

    A user gets this answer only once for each open reminder. If no open reminder is left for this answer, the user gets
    the help text instead.
    """
    before = previous.list_earlier(row, inbound.c.outcome == f"{limits.ANSWERED}{limits.ONLY_TEXT}")
    listed = {id_ for each in before for id_ in cast("list[int]", each.payload.get(ASKED, []))}
    if not asked.open - listed:
        return commands.HELP
    row.payload = {**row.payload, ASKED: sorted(asked.open)}
    return MessageReply(limits.ONLY_TEXT, texts.ONLY_TEXT)
