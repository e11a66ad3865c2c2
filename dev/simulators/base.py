"""Base class of the simulators: routes, recorded calls and the provider's errors."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import RLock
from typing import ClassVar

from flask import Blueprint
from flask.typing import ResponseReturnValue

#: Error responses of a provider, by kind.
Refusals = Mapping[str, ResponseReturnValue]

#: Maximum number of calls that a simulator keeps. The oldest are dropped first.
MEMORY = 200_000


@dataclass(frozen=True)
class Call:
    """One request that a simulator has received."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: str
    fault: str | None = None  # kind of the applied fault
    at: float = field(default_factory=time.time)


class Simulator:
    """One external service, under `/<name>` of the simulator server.

    A subclass sets `name`, and adds the provider's API in `routes`. `env` returns the settings that make the service
    call the simulator. `refusals` has the provider's error responses by kind, such as "quota" in
    `fault(name, "quota")`.
    """

    name: ClassVar[str]
    refusals: ClassVar[Refusals] = {}

    def __init__(self) -> None:
        self.lock = RLock()
        #: URL of this simulator, set when the server is created.
        self.url = ""
        self.reset()

    def routes(self, blueprint: Blueprint) -> None:
        """Add the provider's routes to a blueprint that is mounted under `/<name>`."""
        raise NotImplementedError

    def env(self) -> dict[str, str]:
        """Return the settings that make the service call this simulator."""
        return {}

    def reset(self) -> None:
        """Set the whole state of the simulator. Subclasses add their own."""
        self.calls: deque[Call] = deque(maxlen=MEMORY)
