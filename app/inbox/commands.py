"""Commands that users write to us, such as BERHENTI ("stop"). A command is the whole text."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from app.accounts import moves, resets
from app.core.errors import TooManyRequests
from app.identity import notification_settings
from app.identity.consents import ConsentSource
from app.inbox import limits, texts
from app.inbox.reading import Word
from app.notifications.senders import numbers
from app.pengingat.models import Occurrence


@dataclass(frozen=True)
class MessageReply:
    """The outcome of a message, and the text of the answer. If the text is None, no answer is sent."""

    outcome: str
    text: str | None
    #: Rows of the ledger whose answer this message recorded.
    recorded: tuple[Occurrence, ...] = ()


#: Answers to the commands that switch messages off or on. STOP is about broadcasts alone.
SWITCHES = {Word.STOP: texts.STOPPED, Word.STOP_REMINDERS: texts.STOPPED_ALL, Word.START: texts.STARTED}
HELP = MessageReply(limits.HELP, texts.HELP)


def act(command: Word, user_id: int, phone: str, budget: limits.Budget) -> MessageReply | None:
    """Carry out the command of a known sender. Return None if the word is no command."""
    if command is Word.START and numbers.is_wrong(phone):
        return MessageReply("still wrong number", texts.STILL_WRONG)
    if command in SWITCHES:
        notification_settings.switch_broadcasts(user_id, command is Word.START, way=ConsentSource.MESSAGE)
        if command is not Word.STOP:
            notification_settings.switch_messages(user_id, command is Word.START)
        return MessageReply(command, SWITCHES[command])
    if command is Word.WRONG_NUMBER:
        moves.refuse(phone)
        return MessageReply(command, texts.WRONG_NUMBER)
    if command is Word.RESET:
        return _send_reset_link(phone, budget)
    return HELP if command is Word.HELP else None


def _send_reset_link(phone: str, budget: limits.Budget) -> MessageReply:
    """Send a password reset link to the number of the account. The link is the only answer."""
    with suppress(TooManyRequests):
        if budget.allows(Word.RESET):
            resets.send_link(phone)
            return MessageReply(f"{limits.ANSWERED}{Word.RESET}", None)
    return MessageReply(Word.RESET, None)
