"""Handler of the messages that users write to us. Users who opted out of our messages get answers too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import sqlalchemy as sa

from app.accounts import moves, resets, verification
from app.core.database.session import db
from app.core.errors import AppError, TooManyRequests
from app.forum.service import crisis
from app.identity import notification_settings
from app.identity.consents import ConsentSource
from app.identity.models import User
from app.inbox import edits, limits, reading, texts
from app.inbox.jobs import IGNORED
from app.inbox.reading import CandidateTime, Meaning, Word
from app.notifications import outbox
from app.notifications.models import Channel, Inbound, InboundKind, inbound
from app.notifications.senders import numbers
from app.pengingat.ledger.schemas import QuickAnswer
from app.pengingat.models import Occurrence, OccurrenceState
from app.pengingat.one_tap import message_answers
from app.pengingat.one_tap.links import AnswerTargets
from app.pengingat.one_tap.message_answers import Conversation

KIND = "answer"
#: Maximum age of an answer that is not sent yet. After an hour the user no longer waits for it.
LIFETIME = timedelta(hours=1)
#: Maximum time between the provider's timestamp of a message and the receipt of its webhook. A later message records
#: nothing, unless it quotes a reminder.
LATEST = timedelta(days=1)

#: Commands about the phone number. A new owner of the number may send these commands too. So they do not prove that the
#: owner of the account still uses the number.
OF_NUMBERS = frozenset({Word.VERIFY, Word.RESET, Word.WRONG_NUMBER})

NO_NUMBER, UNKNOWN_SENDER = "no number", "unknown sender"
#: Outcomes of messages that the service does not answer.
REACTION, COURTESY = "reaction", "courtesy"
#: Outcome of an answer while no reminder needs one.
NOTHING_OPEN = "nothing open"
#: Outcome of an edit that has the same meaning as the earlier version of the message.
UNCHANGED = "unchanged"
RESET = "reset"
#: Message types that contain only text.
WORDS = frozenset({"text", "button", "interactive"})
#: Types of messages that people send without text. The last type is Fonnte's. Other types without text are events that
#: no person wrote. For example, `system` reports that a person has changed the phone number.
MEDIA = frozenset({"audio", "voice", "image", "video", "sticker", "document", "location", "contacts", "media"})
#: Key in the payload of a message without text. The value contains the ids of the reminders that were open when the
#: service answered that it reads only text.
ASKED = "asked"

_rows = inbound.c


@dataclass(frozen=True)
class MessageAuthor:
    """Author of a message: the account and its phone number."""

    user_id: int
    name: str
    domicile: str | None
    phone: str


@dataclass(frozen=True)
class MessageReply:
    """The outcome of a message, and the text of the answer. If the text is None, no answer is sent."""

    outcome: str
    text: str | None
    #: Rows of the ledger whose answer this message recorded.
    recorded: tuple[Occurrence, ...] = ()


def handle(row: Inbound) -> str:
    """Apply a message and answer it. Return the outcome, which the caller stores with the message."""
    if row.phone is None:
        return NO_NUMBER
    if not row.text and row.payload.get("type") not in WORDS | MEDIA | {"reaction"}:
        return IGNORED
    numbers.record_message(row.phone, _said_at(row))
    sender = _sender(row.phone)
    budget = limits.budget(row.phone)
    danger = row.payload.get("danger") or crisis.kind_of(row.text or "")
    # Answer danger first, because an error below must not prevent the answer. An unknown sender gets help in a crisis.
    if danger == limits.CRISIS or (danger == limits.EMERGENCY and sender):
        return _send_answer(row, row.phone, _help(danger, sender), budget)
    command = reading.read(row.text or "")
    if proved := _prove(row.phone, command):
        return _send_answer(row, row.phone, proved, budget)
    if sender is None:
        if command.word is Word.WRONG_NUMBER:
            # Flag the number as wrong. The flag also applies to an account that takes the number later.
            moves.refuse(row.phone)
        return UNKNOWN_SENDER
    earlier = edits.earlier_version(row)
    if earlier and edits.is_outdated(row, earlier):
        return IGNORED
    asked = _read(row, sender, earlier)
    is_taken_back = False
    if earlier:
        if _meaning(row, asked) == _meaning(earlier, asked):
            edits.inherit(row, earlier)
            return UNCHANGED
        if is_taken_back := edits.take_back(sender.user_id, earlier):
            asked = replace(_read(row, sender, earlier), undoable=())  # no other answer is taken back too
    if command.word not in OF_NUMBERS:
        numbers.record_use(row.phone)
    reply = _reply(row, sender, asked, budget)
    if is_taken_back and (reply.text is None or reply.outcome == Word.NOT_YET):
        reply = MessageReply("undo", texts.UNDONE)
    edits.remember(row, _quoted(row) or (_quoted(earlier) if earlier else None), asked.meant, reply.recorded)
    return _send_answer(row, row.phone, reply, budget)


def _read(row: Inbound, sender: MessageAuthor, earlier: Inbound | None) -> Conversation:
    """Return the reminders that a message may answer. An edit is about those of the earlier version."""
    if earlier is None:
        return message_answers.read(sender.user_id, wrote_at=_wrote_at(row), quoted=_quoted(row))
    return message_answers.read(
        sender.user_id,
        wrote_at=_wrote_at(earlier),
        quoted=_quoted(row) or _quoted(earlier),
        about=edits.meant(earlier),
    )


def _meaning(row: Inbound, asked: Conversation) -> Meaning:
    return reading.read(row.text or "", _times(asked), str(row.payload.get("pressed", "")))


def _reply(row: Inbound, sender: MessageAuthor, asked: Conversation, budget: limits.Budget) -> MessageReply:
    meaning, kind = _meaning(row, asked), str(row.payload.get("type", ""))
    if act := ACTIONS.get(meaning.word):
        return act(sender)
    match meaning.word:
        case Word.RESET:
            return _reset(sender, may_send=budget.allows(RESET))
        case Word.HELP:
            return MessageReply(limits.HELP, texts.HELP)
    if kind == "reaction":
        return _react(row, sender, asked)
    if kind in MEDIA and not row.text:
        return _ask_for_words(row, asked)
    is_late = row.received_at - _wrote_at(row) > LATEST and not _quoted(row)
    return _act(sender, meaning, replace(asked, is_elsewhere=asked.is_elsewhere or is_late))


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
    notification_settings.switch_broadcasts(sender.user_id, on, way=ConsentSource.MESSAGE)
    return Word.START if on else Word.STOP


def _sender(phone: str) -> MessageAuthor | None:
    query = sa.select(User.id, User.nama_ktp, User.domicile).where(User.phone == phone)
    row = db.session.execute(query).one_or_none()
    return MessageAuthor(row[0], row[1], row[2], phone) if row else None


def _quoted(row: Inbound) -> str | None:
    """Return the provider's id of the message that this message quotes or reacts to."""
    return str(row.payload.get("about", "")) or None


def _said_at(row: Inbound) -> datetime:
    """Return the provider's timestamp of the message, or else the time of receipt.

    The timestamp may be hours old, because providers repeat webhooks while we are down.
    """
    at = row.payload.get("at")
    return datetime.fromisoformat(at) if isinstance(at, str) else row.received_at


def _wrote_at(row: Inbound) -> datetime:
    """Return when the message was written, but not a time after its receipt, because clocks may be wrong."""
    return min(_said_at(row), row.received_at)


def _help(danger: str, sender: MessageAuthor | None) -> MessageReply:
    """Return the help text for a crisis or an emergency, and increment the metric of such messages.

    `sender` is None if a message about a crisis comes from an unknown number.
    """
    lines = crisis.help_lines if danger == limits.CRISIS else crisis.emergency_lines
    return MessageReply(danger, lines(sender.domicile if sender else None))


# --- answers to reminders -------------------------------------------------------------------------------------------


def _times(asked: Conversation) -> list[CandidateTime]:
    return [CandidateTime(time.row.id, time.row.tipe, time.names) for time in asked.numbered or asked.meant]


def _act(sender: MessageAuthor, meaning: Meaning, asked: Conversation) -> MessageReply:
    word = meaning.word
    if word is Word.COURTESY:
        return MessageReply(COURTESY, None)
    if word is Word.CONDOLENCE:
        return MessageReply(word, texts.CONDOLENCE)
    if asked.is_elsewhere and not meaning.token:
        return MessageReply(limits.DOUBT, texts.DOUBT)
    is_nothing_open = not asked.waiting and not asked.is_quoted and not asked.is_too_old and not meaning.token
    match word:
        case Word.DONE:
            return _answer(sender, meaning, asked, QuickAnswer("done"), texts.done)
        case Word.SKIP:
            return _answer(sender, meaning, asked, QuickAnswer("skipped"), texts.skipped)
        case Word.SNOOZE if is_nothing_open and meaning.says_not_yet:
            return _ask_back(asked)
        case Word.SNOOZE if is_nothing_open:
            return MessageReply(NOTHING_OPEN, texts.NOTHING_OPEN)
        case Word.SNOOZE if not 5 <= meaning.minutes <= 120:
            return MessageReply("refused range", texts.RANGE)
        case Word.SNOOZE:
            return _answer(sender, meaning, asked, QuickAnswer("snooze", meaning.minutes), texts.snoozed)
        case Word.NOT_YET if taken := [t for t in asked.undoable if not meaning.named or t.row.id in meaning.named]:
            return _undo(taken)
        case Word.NOT_YET if asked.waiting:
            return MessageReply("not yet", texts.not_yet(sender.name))
        case Word.NOT_YET:
            return MessageReply(NOTHING_OPEN, texts.NOTHING_OPEN)
        case Word.OK:
            return _ok(sender, asked)
    return _ask_back(asked)


def _ask_back(asked: Conversation) -> MessageReply:
    """Ask what a text means. If no reminder is open and none was answered in the last hour, send the help text."""
    if asked.undoable:
        return MessageReply(limits.DOUBT, texts.DOUBT_ANSWERED)
    return MessageReply(limits.DOUBT, texts.DOUBT) if asked.waiting else MessageReply(limits.HELP, texts.HELP)


def _answer(
    sender: MessageAuthor,
    meaning: Meaning,
    asked: Conversation,
    data: QuickAnswer,
    say: Callable[[str, AnswerTargets], str],
) -> MessageReply:
    times: Sequence[message_answers.RemindedTime] = ()
    try:
        with db.session.begin_nested():  # an error rolls back all changes of this answer
            if meaning.token:
                answered = message_answers.answer_button(sender.user_id, meaning.token, data)
            else:
                ids = asked.named(meaning.numbers) if meaning.numbers else meaning.named or _open(asked)
                times = asked.times(ids, data.status)
                answered = message_answers.answer(times, data)
    except message_answers.NothingAsked as nothing:
        return MessageReply(NOTHING_OPEN, nothing.message)
    except AppError as refusal:  # the error's message is written for users
        return MessageReply(f"refused {refusal.code}", refusal.message)
    before = {time.row.id: time.row.answered_at for time in times}
    news = (row for row in answered.occurrences if row.answered_at != before.get(row.id))
    return MessageReply(data.status, say(sender.name, answered), tuple(news))


def _open(asked: Conversation) -> list[int]:
    """Return the ids of the times that an answer without numbers and names is about: what is open, else missed."""
    for state in (OccurrenceState.PENDING, OccurrenceState.MISSED):
        if ids := [time.row.id for time in asked.meant if time.row.state == state]:
            return ids
    return [time.row.id for time in asked.meant]


def _undo(times: Sequence[message_answers.RemindedTime]) -> MessageReply:
    try:
        with db.session.begin_nested():
            message_answers.undo(times)
    except AppError as refusal:
        return MessageReply(f"refused {refusal.code}", refusal.message)
    return MessageReply("undo", texts.UNDONE)


def _ok(sender: MessageAuthor, asked: Conversation) -> MessageReply:
    """Explain how to answer a reminder. If no reminder is open, "ok" is only polite and gets no answer."""
    return MessageReply(limits.OK, texts.ok(sender.name) if asked.waiting else None)


def _react(row: Inbound, sender: MessageAuthor, asked: Conversation) -> MessageReply:
    """Apply an emoji reaction to a reminder.

    A check mark means that the reminder is done. If the user replaces or removes the check mark, undo this answer.
    """
    if not asked.is_quoted:
        return MessageReply(REACTION, None)
    before, outcome, at = _reaction_before(row)
    if at > str(row.payload.get("at", at)):
        return MessageReply(REACTION, None)  # a newer reaction arrived first, so ignore this one
    word = reading.read_reaction(row.text or "")
    if word is Word.DONE:
        return _act(sender, Meaning(word), asked)
    if reading.read_reaction(before) is Word.DONE and outcome == Word.DONE:
        times = [time for time in asked.meant if time.row.answered_via == time.via]
        return _undo(times) if times else MessageReply(REACTION, None)
    return _ok(sender, asked) if word is Word.OK else MessageReply(REACTION, None)


def _reaction_before(row: Inbound) -> tuple[str, str, str]:
    """Return text, outcome and time of the sender's previous reaction to the same message."""
    before = (
        sa.select(_rows.text, _rows.outcome, _rows.payload["at"].astext)
        .where(
            _rows.phone == row.phone,
            _rows.kind == sa.literal_column(f"'{InboundKind.MESSAGE}'"),
            _rows.received_at > row.received_at - LATEST,
            _rows.id < row.id,
            _rows.payload["type"].astext == "reaction",
            _rows.payload["about"].astext == _quoted(row),
        )
        .order_by(_rows.id.desc())
        .limit(1)
    )
    text, outcome, at = db.session.execute(before).one_or_none() or (None, None, None)
    return text or "", (outcome or "").removeprefix(limits.ANSWERED), at or ""


def _ask_for_words(row: Inbound, asked: Conversation) -> MessageReply:
    """Answer a message without text, for example a photo. The answer says that the service reads only text.

    A user gets this answer only once for each open reminder. If no open reminder is left for this answer, the user gets
    the help text instead.
    """
    before = sa.select(_rows.payload[ASKED]).where(
        _rows.phone == row.phone,
        _rows.kind == sa.literal_column(f"'{InboundKind.MESSAGE}'"),
        _rows.received_at > row.received_at - LATEST,
        _rows.outcome == f"{limits.ANSWERED}{limits.ONLY_TEXT}",
    )
    listed = {id_ for ids in db.session.scalars(before) for id_ in ids or ()}
    if not asked.waiting - listed:
        return MessageReply(limits.HELP, texts.HELP)
    row.payload = {**row.payload, ASKED: sorted(asked.waiting)}
    return MessageReply(limits.ONLY_TEXT, texts.ONLY_TEXT)


# --- account commands -----------------------------------------------------------------------------------------------


def _stop(sender: MessageAuthor) -> MessageReply:
    notification_settings.switch_broadcasts(sender.user_id, False, way=ConsentSource.MESSAGE)
    return MessageReply("stop", texts.STOPPED)


def _stop_reminders(sender: MessageAuthor) -> MessageReply:
    notification_settings.switch_broadcasts(sender.user_id, False, way=ConsentSource.MESSAGE)
    notification_settings.switch_messages(sender.user_id, False)
    return MessageReply("stop reminders", texts.STOPPED_ALL)


def _start(sender: MessageAuthor) -> MessageReply:
    if numbers.is_wrong(sender.phone):
        return MessageReply("still wrong number", texts.STILL_WRONG)
    notification_settings.switch_broadcasts(sender.user_id, True, way=ConsentSource.MESSAGE)
    notification_settings.switch_messages(sender.user_id, True)
    return MessageReply("start", texts.STARTED)


def _wrong_number(sender: MessageAuthor) -> MessageReply:
    moves.refuse(sender.phone)
    return MessageReply("wrong number", texts.WRONG_NUMBER)


def _prove(phone: str, meaning: Meaning) -> MessageReply | None:
    """Handle a message with a verification code. Return None for other messages."""
    if meaning.word is not Word.VERIFY:
        return None
    proof, text = verification.confirm_by_message(phone, meaning.code)
    return MessageReply(f"verify {proof}", text)


def _reset(sender: MessageAuthor, *, may_send: bool) -> MessageReply:
    """Send a password reset link to the number of the account. The link is the only answer."""
    if not may_send:
        return MessageReply(RESET, None)
    try:
        resets.send_link(sender.phone)
    except TooManyRequests:
        return MessageReply(RESET, None)
    return MessageReply(f"{limits.ANSWERED}{RESET}", None)


#: Functions for account commands, by command.
ACTIONS: Mapping[Word, Callable[[MessageAuthor], MessageReply]] = {
    Word.STOP: _stop,
    Word.STOP_REMINDERS: _stop_reminders,
    Word.START: _start,
    Word.WRONG_NUMBER: _wrong_number,
}
