"""A fake provider that counts its calls, for cache tests."""

from __future__ import annotations

from dataclasses import dataclass

from app.providers.responses import ProviderError


@dataclass(frozen=True)
class Thing:
    name: str


class Source:
    """A fake provider with an optional error and a count of calls."""

    def __init__(self) -> None:
        self.asked = 0
        self.error: ProviderError | None = None

    def __call__(self) -> Thing | None:
        self.asked += 1
        if self.error:
            raise self.error
        return Thing(f"nomor {self.asked}")
