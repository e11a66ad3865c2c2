"""A fake provider that counts its calls, for cache tests."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Thing:
    name: str


class Source:
    """A fake provider with an optional error and a count of calls."""

    def __init__(self):
        self.asked = 0
        self.error = None

    def __call__(self):
        self.asked += 1
        if self.error:
            raise self.error
        return Thing(f"nomor {self.asked}")
