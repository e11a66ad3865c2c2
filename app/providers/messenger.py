"""What the messaging providers have in common: how one is spoken to, and what it may answer."""

from __future__ import annotations

from typing import Protocol

from app.providers.http import ProviderError


class InvalidNumberError(ProviderError):
    """The provider says that nobody can be reached at this number."""

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(provider, "status", permanent=True, reason=reason)


class Messenger(Protocol):
    def send(self, phone: str, text: str) -> str | None:
        """Send a text to an E.164 number; returns the provider's reference. Raises `ProviderError`."""


class Outbox:
    """Sends nowhere: the development pages show the outbox's rows."""

    def send(self, phone: str, text: str) -> str | None:
        return None
