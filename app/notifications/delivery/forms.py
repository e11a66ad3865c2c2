"""The form in which a message leaves: WhatsApp takes free text for 24 hours after its recipient last wrote to us, and
after that only a template that it has approved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypedDict

from app.core.settings import settings
from app.notifications.delivery.claims import UndeliverableError
from app.notifications.delivery.sealing import Words
from app.providers.messenger import Button, Template
from app.providers.whatsapp import MOST_CHARACTERS_WITH_BUTTONS

#: For so long after somebody wrote to us WhatsApp takes a text to them; its clock and ours may differ.
OPEN_FOR = timedelta(hours=24) - timedelta(minutes=10)

#: In a payload: whatever the hours, the message goes as a template, for WhatsApp has refused it as a text.
AS_TEMPLATE = "as_template"


class NeedsTemplateError(UndeliverableError):
    """The 24 hours are over, and there is no template for this kind of message."""

    def __init__(self) -> None:
        super().__init__("needs_template")


@dataclass(frozen=True)
class Form:
    text: str
    buttons: tuple[Button, ...] = ()
    template: Template | None = None


def form_of(kind: str, words: Words, *, is_open: bool, as_template: bool = False) -> Form:
    """The form of a delivery of this kind at this moment; `is_open` says that its recipient wrote within the hours.

    With `as_template` it is a template whatever the hours. Beside their text words may have `parts`, see `Parts`.
    Raises `NeedsTemplateError`.
    """
    text, parts = str(words["text"]), parts_of(words)
    if not settings.follows_whatsapp_hours:
        return Form(text)
    buttons = _buttons(parts) if _has_buttons() else ()
    if is_open and not as_template:
        return Form(text, buttons)
    name = template_name(kind, parts.get("tipe"))
    if name is None:
        raise NeedsTemplateError
    ids = [button.id for button in buttons]
    template = Template(
        name, settings.whatsapp_template_language, _parameters(text, parts), ids, code=parts.get("code")
    )
    return Form(text, template=template)


def says_how_to_answer(text: str) -> bool:
    """Return whether a reminder says how to answer it: messages come back, and it has no buttons."""
    return settings.hears_people and not (_has_buttons() and len(text) <= MOST_CHARACTERS_WITH_BUTTONS)


def _has_buttons() -> bool:
    """Return whether reminders have buttons. Without the webhook nobody would hear of a tap."""
    return settings.follows_whatsapp_hours and settings.whatsapp_app_secret is not None


class Parts(TypedDict, total=False):
    """What a message is made of, beside its text, as far as that is known."""

    #: The type of a reminder.
    tipe: str
    #: How its text greets: `Halo Siti, `. Empty where no name may be said.
    name: str
    #: That of the link by which it can be answered.
    token: str
    #: A code to be typed: the template of such a kind says it and nothing else.
    code: str


def parts_of(words: Mapping[str, Any]) -> Parts:
    parts: Parts = words.get("parts") or Parts()
    return parts


def template_name(kind: str, tipe: object = None) -> str | None:
    """The template that says what a delivery says, or None: that of the type of reminder, else that of its kind."""
    names = dict(settings.whatsapp_templates)
    return names.get(f"pengingat_{tipe}") or names.get(kind)


def _parameters(text: str, parts: Parts) -> list[str]:
    """What fills a template's blanks: a code, of a text with a greeting the name and the rest, else the whole text."""
    if code := parts.get("code"):
        return [code]
    name = parts.get("name")
    if name is None:
        return [text]
    return [name or "Anda", text.removeprefix(f"Halo {name}, " if name else "Halo, ")]


def _buttons(parts: Parts) -> tuple[Button, ...]:
    """The ready answers to a reminder. Their titles are what somebody could write as well."""
    token = parts.get("token")
    if token is None:
        return ()
    return (
        Button(f"T:{token}", "Sudah"),
        Button(f"T:{token}:snooze", "Tunda 30 menit"),
        Button(f"T:{token}:skip", "Lewati"),
    )
