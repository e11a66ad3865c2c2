"""A provider whose answers are kept, and how often it was asked."""

from __future__ import annotations

from dataclasses import dataclass
from time import sleep

from app.providers.responses import ProviderError


@dataclass(frozen=True)
class Thing:
    name: str


class Source:
    """A provider: what it says, how long it takes, how often it was asked."""

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
