"""Forms of a message: free text, or a template.

WhatsApp accepts free text for 24 hours after the recipient last wrote to us. After that, it accepts only templates that
it has approved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypedDict

from app.core.settings import settings
from app.notifications.delivery.claims import UndeliverableError
from app.notifications.delivery.sealing import Words
from app.providers.messenger import Button, Template
from app.providers.whatsapp import MAX_CHARACTERS_WITH_BUTTONS

#: Time in which WhatsApp accepts free text after a person wrote to us. Ten minutes less, because the clocks differ.
OPEN_FOR = timedelta(hours=24) - timedelta(minutes=10)

#: Payload key: send the message as a template at any time, because WhatsApp refused the text.
AS_TEMPLATE = "as_template"


class NeedsTemplateError(UndeliverableError):
    """The 24 hours are over, and there is no template for this kind of message."""

    def __init__(self) -> None:
        super().__init__("needs_template")


@dataclass(frozen=True)
class MessageFormat:
    text: str
    buttons: tuple[Button, ...] = ()
    template: Template | None = None


def format_of(kind: str, words: Words, *, is_open: bool, as_template: bool = False) -> MessageFormat:
    """Return the current form of a message. `is_open` means that the recipient wrote to us within `OPEN_FOR`.

    With `as_template` it is always a template. `words` contain `text`, and may contain `parts`, see `MessageParts`.
    Raise `NeedsTemplateError` if a template is needed and there is none.
    """
    text, parts = str(words["text"]), parts_of(words)
    if not settings.follows_whatsapp_hours:
        return MessageFormat(text)
    buttons = _buttons(parts) if _has_buttons() else ()
    if is_open and not as_template:
        return MessageFormat(text, buttons)
    name = template_name(kind, parts.get("tipe"))
    if name is None:
        raise NeedsTemplateError
    ids = [button.id for button in buttons]
    template = Template(
        name, settings.whatsapp_template_language, _parameters(text, parts), ids, code=parts.get("code")
    )
    return MessageFormat(text, template=template)


def says_how_to_answer(text: str) -> bool:
    """Return whether a reminder's text explains how to answer: we receive answers, and the message has no buttons."""
    return settings.hears_people and not (_has_buttons() and len(text) <= MAX_CHARACTERS_WITH_BUTTONS)


def _has_buttons() -> bool:
    """Return whether reminders have buttons. Without the webhook we would not receive a tap."""
    return settings.follows_whatsapp_hours and settings.whatsapp_app_secret is not None


class MessageParts(TypedDict, total=False):
    """Parts of a message, in addition to its text. Each is optional."""

    #: The type of a reminder.
    tipe: str
    #: Name in the greeting `Halo Siti, `. Empty if no name may be shown.
    name: str
    #: Token of the link that answers the reminder.
    token: str
    #: Code to type. The templates of its kinds contain only the code.
    code: str


def parts_of(words: Mapping[str, Any]) -> MessageParts:
    parts: MessageParts = words.get("parts") or MessageParts()
    return parts


def template_name(kind: str, tipe: object = None) -> str | None:
    """Return the template of the type of reminder, otherwise the template of the kind, or None."""
    names = dict(settings.whatsapp_templates)
    return names.get(f"pengingat_{tipe}") or names.get(kind)


def _parameters(text: str, parts: MessageParts) -> list[str]:
    """Return the parameters of a template: a code, or the name and the rest of the text, or the whole text."""
    if code := parts.get("code"):
        return [code]
    name = parts.get("name")
    if name is None:
        return [text]
    return [name or "Anda", text.removeprefix(f"Halo {name}, " if name else "Halo, ")]


def _buttons(parts: MessageParts) -> tuple[Button, ...]:
    """Return the answer buttons of a reminder. Typing a button's title has the same effect."""
    token = parts.get("token")
    if token is None:
        return ()
    return (
        Button(f"T:{token}", "Sudah"),
        Button(f"T:{token}:snooze", "Tunda 30 menit"),
        Button(f"T:{token}:skip", "Lewati"),
    )
