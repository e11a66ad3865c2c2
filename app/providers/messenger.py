"""What the messaging providers have in common: how one is spoken to, and what it may answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from app.providers.http import ProviderError


class InvalidNumberError(ProviderError):
    """The provider says that nobody can be reached at this number."""

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(provider, "status", permanent=True, reason=reason)


class OutsideHoursError(ProviderError):
    """The provider takes no text for this person now, only a template."""

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(provider, "status", permanent=True, reason=reason)


@dataclass(frozen=True)
class Button:
    """A ready answer below a message; `id` comes back when it is tapped."""

    id: str
    title: str


@dataclass(frozen=True)
class Template:
    """A message that the provider has approved beforehand, and what fills its blanks, in order."""

    name: str
    language: str
    parameters: Sequence[str]
    #: What comes back from each of its buttons, in order.
    payloads: Sequence[str] = ()
    #: Of a template for codes alone: what its button copies.
    code: str | None = None


class Messenger(Protocol):
    def send(
        self,
        phone: str,
        text: str,
        *,
        callback: str | None = None,
        buttons: Sequence[Button] = (),
        template: Template | None = None,
    ) -> str | None:
        """Send a text, or the template in its place, to an E.164 number; returns the provider's reference.

        `callback` comes back with what the provider tells of the message later. Who knows neither callbacks nor
        buttons nor templates sends the text. Raises `ProviderError`.
        """


class Outbox:
    """Sends nowhere: the development pages show the outbox's rows."""

    def send(self, phone: str, text: str, **_: object) -> str | None:
        return None
