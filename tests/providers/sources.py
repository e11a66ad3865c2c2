"""A fake provider that counts its calls, for cache tests."""

from __future__ import annotations

from dataclasses import dataclass
from time import sleep

from app.providers.responses import ProviderError


@dataclass(frozen=True)
class Thing:
    name: str


class Source:
    """A fake provider with a delay, an optional error and a count of calls."""

    def __init__(self, seconds: float = 0) -> None:
        self.asked = 0
        self.seconds = seconds
        self.error: ProviderError | None = None

    def __call__(self) -> Thing | None:
        self.asked += 1
        sleep(self.seconds)
        if self.error:
            raise self.error
        return Thing(f"nomor {self.asked}")
