"""State of the simulated phone number that sends the service's messages."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

#: WhatsApp's id of the phone number.
SENDER_ID = "100200300400"


class Fate(StrEnum):
    """What happens to a message after the gateway has accepted it."""

    SENT = "sent"
    HELD = "held"
    FAILED = "failed"


@dataclass
class Sender:
    """The phone number that sends the service's messages. Tests set its fields."""

    connected: bool = True
    #: True if the gateway accepts and keeps messages while the phone is off. Otherwise the gateway refuses them.
    holds: bool = False
    banned: bool = False
    quality: str = "GREEN"
    quota: int = 1_000_000
    #: Maximum number of different recipients. Recipients who have written to the service do not count. None means no
    #: limit.
    limit: int | None = None
    people: set[str] = field(default_factory=set)
    #: Phone numbers that wrote to the service within 24 hours.
    wrote: set[str] = field(default_factory=set)
    #: True if WhatsApp accepts a message that violates its 24-hour rule, and reports the violation later.
    keeps_hours: bool = False
    #: `failing` is the number of next messages that fail. `code` is their error code.
    failing: int = 0
    code: str = "131026"

    def fate(self) -> Fate:
        if self.failing > 0:
            self.failing -= 1
            return Fate.FAILED
        return Fate.SENT if self.connected else Fate.HELD

    def fonnte_problem(self) -> str | None:
        if self.quota <= 0:
            return "insufficient quota"
        if self.banned or not (self.connected or self.holds):
            return "request invalid on disconnected device"
        return None

    def whatsapp_problem(self, target: str) -> int | None:
        """Return the error code for a message to this recipient, or None."""
        if self.banned:
            return 131031
        if target in self.wrote:
            return None
        if self.limit is not None and len(self.people | {target}) > self.limit:
            return 131048
        self.people.add(target)
        return None

    def tier(self) -> str:
        """Return the name of the recipient limit in WhatsApp's API."""
        if self.limit is None:
            return "TIER_UNLIMITED"
        return f"TIER_{self.limit // 1000}K" if self.limit >= 1000 else f"TIER_{self.limit}"


def whatsapp_change(name: str, value: dict[str, Any]) -> dict[str, Any]:
    metadata = {"metadata": {"phone_number_id": SENDER_ID}} if name == "messages" else {}
    change = {"field": name, "value": {**metadata, **value}}
    return {"object": "whatsapp_business_account", "entry": [{"id": "1", "time": 1774000000, "changes": [change]}]}
