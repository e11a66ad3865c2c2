"""What follows from a message that somebody wrote to us. Its answer goes out although they opted out of all else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from app.accounts import moves, questions, verification
from app.accounts import service as accounts
from app.accounts.verification import Proof
from app.caregivers import service as caregivers
from app.core.database.session import db
from app.core.errors import AppError, NotFound
from app.identity import notification_settings
from app.identity.consents import Way
from app.identity.models import PHONE_IS_PROVEN, User
from app.inbox import limits, texts, words
from app.inbox.words import Command, Word
from app.notifications.messages import message_user
from app.notifications.models import Inbound
from app.notifications.senders import numbers
from app.pengingat.ledger.schemas import QuickAnswer
from app.pengingat.one_tap import message_answers
from app.pengingat.one_tap.links import Asked

KIND = "answer"
#: How long an answer is tried to be sent: who waits longer has given up.
LIFETIME = timedelta(hours=1)
#: So late a message may reach us and still be taken for one of the moment that its provider names.
LATEST = timedelta(days=1)
#: For how long somebody may cut a link by a word that they were told of.
CUT_WITHIN = timedelta(days=7)

#: Words about the number itself: they do not show who uses it.
OF_NUMBERS = frozenset({Word.VERIFY, Word.MOVE, Word.RESET, Word.WRONG_NUMBER})

NO_NUMBER, UNKNOWN_SENDER = "no number", "unknown sender"
#: Types of messages that say nothing: a smile on a message of ours, or what WhatsApp cannot show.
MUTE = frozenset({"reaction", "system", "unsupported", "sticker"})


@dataclass(frozen=True)
class Sender:
    """Somebody whose number we know, and when they wrote."""

    user_id: int
    name: str
    phone: str
    is_proven: bool
    wrote_at: datetime


@dataclass(frozen=True)
class Reply:
    """What was done about a message, and what is written back; None: nothing."""

    outcome: str
    text: str | None


def handle(row: Inbound) -> str:
    """Do what a message says, and answer it; returns the row's outcome."""
    if row.phone is None:
        return NO_NUMBER
    numbers.heard_from(row.phone, _said_at(row))
    command = words.read(row.text or "", str(row.payload.get("pressed", "")))
    proved = _prove(row.phone, command)
    sender = _sender(row.phone, _wrote_at(row))
    if sender is None:
        if command.word is Word.WRONG_NUMBER:
            moves.refuse(row.phone)  # an account that takes the number later has the flag
        return UNKNOWN_SENDER
    if command.word not in OF_NUMBERS:
        numbers.note_use(row.phone)
    budget = limits.budget(row.phone)
    if command.word is Word.RESET:
        return _reset(sender, may_send=budget.is_left)
    if proved is not None:
        reply = proved
    elif command.word not in ACTIONS:
        is_mute = command.word is Word.UNKNOWN and row.payload.get("type") in MUTE
        reply = Reply("help", texts.HELP if budget.may_help and not is_mute else None)
    else:
        reply = ACTIONS[command.word](sender, command)
    if reply.text is None or not budget.is_left:
        return reply.outcome
    message_user(
        None,
        reply.text,
        kind=KIND,
        dedupe_key=f"{KIND}:{row.id}",
        expires_in=LIFETIME,
        only_to=sender.phone,
    )
    return f"{limits.ANSWERED}{reply.outcome}"


def prefer(row: Inbound) -> str:
    """Broadcasts wanted or not, chosen in the provider's own menu: done, and not talked about."""
    sender = _sender(row.phone, row.received_at) if row.phone else None
    if sender is None:
        return UNKNOWN_SENDER
    on = row.payload.get("wish") == "resume"
    notification_settings.switch_broadcasts(sender.user_id, on, way=Way.MESSAGE)
    return Word.START if on else Word.STOP


def _sender(phone: str, wrote_at: datetime) -> Sender | None:
    who = sa.select(User.id, User.nama_ktp, PHONE_IS_PROVEN).where(User.phone == phone)
    row = db.session.execute(who).one_or_none()
    if row is None:
        return None
    user_id, name, is_proven = row
    return Sender(user_id, name, phone, is_proven, wrote_at)


def _said_at(row: Inbound) -> datetime:
    """When a message was written, as its provider says: webhooks are repeated for hours while we are away."""
    at = row.payload.get("at")
    return datetime.fromisoformat(at) if isinstance(at, str) else row.received_at


def _wrote_at(row: Inbound) -> datetime:
    """The same, where that can be; else when it came."""
    said_at = _said_at(row)
    return said_at if row.received_at - LATEST <= said_at <= row.received_at else row.received_at


# --- of reminders ---------------------------------------------------------------------------------------------------


def _answer(sender: Sender, command: Command, data: QuickAnswer, say: Callable[[str, Asked], str]) -> Reply:
    try:
        with db.session.begin_nested():  # a refusal leaves nothing half done
            if command.token:
                answered = message_answers.answer_button(sender.user_id, command.token, data)
            else:
                answered = message_answers.answer(sender.user_id, data, command.numbers, wrote_at=sender.wrote_at)
    except AppError as refusal:  # a sentence for people, whichever it is
        return Reply(f"refused {refusal.code}", refusal.message)
    return Reply(data.status, say(sender.name, answered))


def _done(sender: Sender, command: Command) -> Reply:
    return _answer(sender, command, QuickAnswer("done"), texts.done)


def _skip(sender: Sender, command: Command) -> Reply:
    return _answer(sender, command, QuickAnswer("skipped"), texts.skipped)


def _snooze(sender: Sender, command: Command) -> Reply:
    if not 5 <= command.minutes <= 120:
        return Reply("refused range", texts.RANGE)
    return _answer(sender, command, QuickAnswer("snooze", command.minutes), texts.snoozed)


def _yes(sender: Sender, command: Command) -> Reply:
    """Done, where only one thing can be meant. To nothing at all people say yes too, out of politeness."""
    count = message_answers.count_open(sender.user_id, wrote_at=sender.wrote_at)
    if count == 1:
        return _done(sender, command)
    return Reply("unclear", texts.SEVERAL.format(count=count)) if count else Reply("nothing asked", None)


def _not_yet(sender: Sender, _: Command) -> Reply:
    is_open = message_answers.count_open(sender.user_id, wrote_at=sender.wrote_at) > 0
    return Reply("not yet", texts.not_yet(sender.name) if is_open else texts.NOTHING_OPEN)


# --- of the person --------------------------------------------------------------------------------------------------


def _stop(sender: Sender, _: Command) -> Reply:
    notification_settings.switch_broadcasts(sender.user_id, False, way=Way.MESSAGE)
    return Reply("stop", texts.STOPPED)


def _stop_reminders(sender: Sender, _: Command) -> Reply:
    notification_settings.switch_broadcasts(sender.user_id, False, way=Way.MESSAGE)
    notification_settings.switch_messages(sender.user_id, False)
    if not sender.is_proven:
        numbers.stop(sender.phone)
    return Reply("stop reminders", texts.stopped_all())


def _start(sender: Sender, _: Command) -> Reply:
    if numbers.is_wrong(sender.phone):
        return Reply("still wrong number", texts.STILL_WRONG)
    notification_settings.switch_broadcasts(sender.user_id, True, way=Way.MESSAGE)
    notification_settings.switch_messages(sender.user_id, True)
    numbers.resume(sender.phone)
    return Reply("start", texts.STARTED)


def _wrong_number(sender: Sender, _: Command) -> Reply:
    if moves.refuse(sender.phone):
        return Reply("moved back", texts.MOVED_BACK)
    return Reply("wrong number", texts.WRONG_NUMBER)


def _prove(phone: str, command: Command) -> Reply | None:
    """Take a proof of the number that writes, or its consent to a move. None: the message is neither."""
    if command.word is Word.MOVE:
        username = questions.agree(phone)
        return Reply("verify moved", texts.moved(username)) if username else Reply("verify no", texts.NOTHING_TO_MOVE)
    if command.word is not Word.VERIFY:
        return None
    proof = verification.confirm_by_message(phone, command.code)
    return Reply(f"verify {proof}", questions.text(phone) if proof is Proof.ASKED else texts.PROOFS[proof])


def _cut(sender: Sender, _: Command) -> Reply:
    """The link that the person was told of last."""
    try:
        name = caregivers.delete_last_told(sender.user_id, CUT_WITHIN)
    except NotFound:
        return Reply("nothing to cut", texts.NOTHING_TO_CUT)
    if name is None:
        return Reply("cut already", texts.CUT_ALREADY)
    return Reply("cut", texts.cut(name))


def _reset(sender: Sender, *, may_send: bool) -> str:
    """The link is the answer: it goes to the account's own number, and tells nobody else whether there is one."""
    if not may_send:
        return "reset"
    return f"{limits.ANSWERED}reset" if accounts.send_reset_link(sender.phone) else "reset"


#: What each word does.
ACTIONS: Mapping[Word, Callable[[Sender, Command], Reply]] = {
    Word.DONE: _done,
    Word.YES: _yes,
    Word.NOT_YET: _not_yet,
    Word.SNOOZE: _snooze,
    Word.SKIP: _skip,
    Word.STOP: _stop,
    Word.STOP_REMINDERS: _stop_reminders,
    Word.START: _start,
    Word.WRONG_NUMBER: _wrong_number,
    Word.CUT: _cut,
}
