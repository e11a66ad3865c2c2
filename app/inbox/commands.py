"""Commands that users write to us, such as BERHENTI ("stop"). A command is the whole text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.accounts import moves, resets
from app.core.errors import TooManyRequests
from app.identity import notification_settings
from app.identity.consents import ConsentSource
from app.inbox import limits, texts
from app.inbox.reading import Word
from app.notifications.senders import numbers
from app.pengingat.models import Occurrence

RESET = "reset"


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


def send_help(_: MessageAuthor | None = None) -> MessageReply:
    return MessageReply(limits.HELP, texts.HELP)


def send_reset_link(sender: MessageAuthor, budget: limits.Budget) -> MessageReply:
    """Send a password reset link to the number of the account. The link is the only answer."""
    try:
        if budget.allows(RESET):
            resets.send_link(sender.phone)
            return MessageReply(f"{limits.ANSWERED}{RESET}", None)
    except TooManyRequests:
        pass
    return MessageReply(RESET, None)


#: Functions for commands, by command.
ACTIONS: Mapping[Word, Callable[[MessageAuthor], MessageReply]] = {
    Word.STOP: _stop,
    Word.STOP_REMINDERS: _stop_reminders,
    Word.START: _start,
    Word.WRONG_NUMBER: _wrong_number,
    Word.HELP: send_help,
}
