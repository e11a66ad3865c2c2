"""Interface of all messaging providers, with its errors and results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from app.providers.http import ProviderError


class InvalidNumberError(ProviderError):
    """Error: this phone number cannot receive messages."""

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(provider, "status", permanent=True, reason=reason)


def is_silent(error: ProviderError) -> bool:
    """Return whether the response lacks the messaging provider's own error message.

    Such a response came from a proxy or another host, so a retry may get a different response.
    """
    return error.response is not None and error.kind in ("status", "redirect")


class SenderError(ProviderError):
    """Error of our sending account or phone, not of the message.

    No message can be sent until the operator fixes the problem or the problem ends.
    """

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(provider, "status", reason=reason)


class LimitedError(ProviderError):
    """Error: the provider refuses some messages until the operator fixes the problem or the problem ends.

    Examples are messages to new recipients and messages with a paused template. Other messages are accepted.
    """

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(provider, "status", reason=reason)


class OutsideHoursError(ProviderError):
    """Error: this recipient can now receive only a template, not free text."""

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(provider, "status", permanent=True, reason=reason)


@dataclass(frozen=True)
class Button:
    """A reply button below a message. The provider returns the `id` when the recipient taps the button."""

    id: str
    title: str


@dataclass(frozen=True)
class Template:
    """A message template that the provider has approved, and the values of its parameters in order."""

    name: str
    parameters: Sequence[str]
    #: Payloads of the buttons, in order. The provider returns the payload of the button that the recipient taps.
    payloads: Sequence[str] = ()


@dataclass(frozen=True)
class Health:
    """The state of our sending account, as the provider reports it.

    A field is None if the provider does not report the value.
    """

    #: The reason why no message can be sent, or None.
    problem: str | None = None
    #: Quality rating of our messages by recipients, in the provider's terms.
    quality: str | None = None
    #: Maximum number of different recipients in 24 hours. People who wrote to us first are not counted.
    limit_24h: int | None = None
    #: Number of prepaid messages that can still be sent.
    quota: int | None = None


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
        """Send a message to a phone number in E.164 format, and return the provider's message id.

        Raise `ProviderError` if the message is refused or the call fails. A `template` is sent instead of `text`. The
        provider returns `callback` in later webhooks about the message. A provider without callbacks, buttons or
        templates sends only `text`.
        """

    def health(self) -> Health | None:
        """Return the state of our sending account, or None if the provider cannot report the state.

        Raise `ProviderError` if the response is not usable.
        """

    def cancel(self, ref: str) -> bool:
        """Cancel a message that the provider has accepted but not sent. Return whether the message was cancelled."""


class Outbox:
    """Messenger that sends nothing. Messages stay in the outbox table, and the development pages show this table."""

    def send(self, phone: str, text: str, **_: object) -> str | None:
        return None

    def health(self) -> None:
        """Return None, because no provider is used."""

    def cancel(self, ref: str) -> bool:
        return False
