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


def is_silent(error: ProviderError) -> bool:
    """Whether an answer has nothing to say of the message, for the provider's own words are not in it: it came from a
    proxy or another host, and may be another one soon."""
    return error.response is not None and error.kind in ("status", "redirect")


class SenderError(ProviderError):
    """It is not this message that is refused, but whoever sends: nothing leaves until the operator or time mends it."""

    def __init__(self, provider: str, reason: str, *, is_seen: bool) -> None:
        """`is_seen`: `Messenger.health` tells when it is over. Otherwise only a message that is taken does."""
        super().__init__(provider, "status", reason=reason)
        self.is_seen = is_seen


class TooManyPeopleError(ProviderError):
    """The provider takes messages to nobody new for a while; to those written to lately it does."""

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(provider, "status", reason=reason)


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


@dataclass(frozen=True)
class Health:
    """How a sender is, as its provider says; None: it does not say."""

    #: Why nothing leaves; None: something does.
    problem: str | None = None
    #: What recipients think of it, in the provider's word.
    quality: str | None = None
    #: Different people that it may write to in 24 hours without having been written to.
    limit_24h: int | None = None
    #: Messages that are paid for.
    quota: int | None = None


@dataclass(frozen=True)
class Told:
    """What a provider tells by itself of the sender, as far as it concerns us."""

    #: Why nothing leaves from now on.
    problem: str | None = None
    #: What it was is over.
    is_mended: bool = False
    #: Why nobody new is written to.
    limit: str | None = None
    quality: str | None = None
    limit_24h: int | None = None


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

    def health(self) -> Health | None:
        """How the sender is; None where nobody can tell. Raises `ProviderError` when the answer says nothing."""

    def take_back(self, ref: str) -> bool:
        """Take back a message that the provider has and has not sent yet; returns whether it did."""


class Outbox:
    """Sends nowhere: the development pages show the outbox's rows."""

    def send(self, phone: str, text: str, **_: object) -> str | None:
        return None

    def health(self) -> None:
        """There is no sender."""

    def take_back(self, ref: str) -> bool:
        return False
