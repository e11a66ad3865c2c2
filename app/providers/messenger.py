"""The interface that all messaging providers implement, with its errors and results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from app.providers.http import ProviderError


class InvalidNumberError(ProviderError):
    """Error: the phone number cannot receive messages."""

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(provider, "status", permanent=True, reason=reason)


def is_silent(error: ProviderError) -> bool:
    """Return whether the response lacks the provider's own error message.

    It then came from a proxy or another host, so a later attempt may get a different response.
    """
    return error.response is not None and error.kind in ("status", "redirect")


class SenderError(ProviderError):
    """Error of our account or phone, not of this message.

    Nothing can be sent until the operator or time resolves it.
    """

    def __init__(self, provider: str, reason: str, *, is_seen: bool) -> None:
        """`is_seen`: `Messenger.health` shows when the error is over. If False, only an accepted message shows it."""
        super().__init__(provider, "status", reason=reason)
        self.is_seen = is_seen


class TooManyPeopleError(ProviderError):
    """Error: the provider accepts no messages to new recipients for a while. Recent recipients still work."""

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(provider, "status", reason=reason)


class OutsideHoursError(ProviderError):
    """Error: this recipient can get only a template now, not free text."""

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(provider, "status", permanent=True, reason=reason)


@dataclass(frozen=True)
class Button:
    """A reply button below a message. The provider sends its `id` back when the recipient taps it."""

    id: str
    title: str


@dataclass(frozen=True)
class Template:
    """A message that the provider has approved, with its parameters in order."""

    name: str
    language: str
    parameters: Sequence[str]
    #: Payloads that the provider sends back when a button is tapped, in order of the buttons.
    payloads: Sequence[str] = ()
    #: The code that the button copies. Only for login code templates.
    code: str | None = None


@dataclass(frozen=True)
class Health:
    """The sender's state as the provider reports it. None means that the provider does not report the value."""

    #: The reason why nothing can be sent, or None.
    problem: str | None = None
    #: Quality rating by recipients, in the provider's terms.
    quality: str | None = None
    #: Maximum different recipients in 24 hours. People who wrote to us first do not count.
    limit_24h: int | None = None
    #: Prepaid messages that are left.
    quota: int | None = None


@dataclass(frozen=True)
class SenderEvent:
    """A change of the sender's state that a provider reports by webhook."""

    #: The reason why nothing can be sent from now on.
    problem: str | None = None
    #: The problem is resolved.
    is_mended: bool = False
    #: The reason why new recipients get no messages.
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
        """Send `text`, or `template` in its place, to an E.164 number and return the provider's message id.

        The provider sends `callback` back with later receipts. A provider without callbacks, buttons or templates sends
        only the text. Raise `ProviderError`.
        """

    def health(self) -> Health | None:
        """Return the sender's state, or None if the provider cannot report it. Raise `ProviderError` for an unusable
        response.
        """

    def cancel(self, ref: str) -> bool:
        """Cancel a message that the provider has not sent yet. Return whether it was cancelled."""


class Outbox:
    """Messenger that sends nothing. The development pages show the rows of the outbox table."""

    def send(self, phone: str, text: str, **_: object) -> str | None:
        return None

    def health(self) -> None:
        """Return None, because there is no sender."""

    def cancel(self, ref: str) -> bool:
        return False
