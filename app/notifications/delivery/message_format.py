"""Format of a message: free text, or a template.

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

#: Time for which we send free text after a person wrote to us. This time is ten minutes shorter than WhatsApp's 24
#: hours, because WhatsApp's clock may differ from ours.
OPEN_FOR = timedelta(hours=24) - timedelta(minutes=10)

#: Key in the payload of a delivery that must be sent as a template, because WhatsApp refused its free text.
AS_TEMPLATE = "as_template"


def is_template(payload: Mapping[str, object]) -> bool:
    """Return whether a delivery with this payload must be sent as a template."""
    return bool(payload.get(AS_TEMPLATE))


def may_be_template(payload: Mapping[str, object]) -> bool:
    """Return whether a delivery with this payload, whose free text WhatsApp has refused, is sent as a template."""
    return settings.follows_whatsapp_hours and not is_template(payload)


class NeedsTemplateError(UndeliverableError):
    """The 24 hours for free text are over, and no template is configured for this kind of message."""

    def __init__(self) -> None:
        super().__init__("needs_template")


@dataclass(frozen=True)
class MessageFormat:
    text: str
    buttons: tuple[Button, ...] = ()
    template: Template | None = None


def format_of(kind: str, words: Words, *, is_open: bool, as_template: bool = False) -> MessageFormat:
    """Return the message as free text or as a template.

    `is_open` means that the recipient wrote to us within `OPEN_FOR`. With `as_template`, never return free text to
    WhatsApp. `words` has the `text`, and may have `parts` (`MessageParts`).
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
    template = Template(name, _parameters(text, parts), ids)
    return MessageFormat(text, template=template)


def explains_answers(text: str) -> bool:
    """Return whether the text of a reminder explains how to answer.

    The text explains this if we receive answers and the message has no answer buttons.
    """
    return settings.receives_messages and not (_has_buttons() and len(text) <= MAX_CHARACTERS_WITH_BUTTONS)


def _has_buttons() -> bool:
    """Return whether reminders have answer buttons. They need our webhook, which receives the taps."""
    return settings.follows_whatsapp_hours and settings.whatsapp_app_secret is not None


class MessageParts(TypedDict, total=False):
    """Values that a template or a button needs in addition to the text of a message. Each value is optional."""

    #: The type of a reminder.
    tipe: str
    #: Name in the greeting `Halo Siti, `. Empty if no name may be shown.
    name: str
    #: Token of the link that answers the reminder.
    token: str


def parts_of(words: Mapping[str, Any]) -> MessageParts:
    parts: MessageParts = words.get("parts") or MessageParts()
    return parts


def template_name(kind: str, tipe: object = None) -> str | None:
    """Return the name of the template for this reminder type. Without one, return the name for this kind, or None."""
    names = dict(settings.whatsapp_templates)
    return names.get(f"pengingat_{tipe}") or names.get(kind)


def _parameters(text: str, parts: MessageParts) -> list[str]:
    """Return the parameters of a template: the name and the text after the greeting, or the whole text."""
    name = parts.get("name")
    if name is None:
        return [text]
    return [name or "Anda", text.removeprefix(f"Halo {name}, " if name else "Halo, ")]


def _buttons(parts: MessageParts) -> tuple[Button, ...]:
    """Return the answer buttons of a reminder. A reply with a button's title has the same effect as a tap."""
    token = parts.get("token")
    if token is None:
        return ()
    return (
        Button(f"T:{token}", "Sudah"),
        Button(f"T:{token}:snooze", "Tunda 30 menit"),
        Button(f"T:{token}:skip", "Lewati"),
    )
