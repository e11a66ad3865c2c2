"""What every stand-in of an outside service has: its routes, its memory, and refusals in its own words."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from threading import RLock
from typing import Any, ClassVar

from flask import Blueprint
from flask.typing import ResponseReturnValue

#: A provider's own ways to say no, by kind.
Refusals = Mapping[str, Callable[[], ResponseReturnValue]]

#: Calls that one simulator remembers; the oldest go first.
MEMORY = 200_000


@dataclass(frozen=True)
class Call:
    """One request as it arrived, answered or not."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: str
    fault: str | None = None  # kind of the fault that it met
    at: float = field(default_factory=time.time)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Simulator:
    """One outside service, under `/<name>` of the server.

    A subclass says its `name`, writes its wire in `routes`, and in `env` the settings that point the service
    at it. `refusals` are the provider's own ways to say no: `fault(name, "quota")` plays one. `actions` are
    what a test in another process may do, by `POST /_control/<name>/<action>`.
    """

    name: ClassVar[str]

    def __init__(self) -> None:
        self.lock = RLock()
        self.calls: deque[Call] = deque(maxlen=MEMORY)
        #: Address of this simulator, with the server's; known once the server listens.
        self.url = ""

    def routes(self, blueprint: Blueprint) -> None:
        """Put the provider's routes on a blueprint that is mounted under `/<name>`."""
        raise NotImplementedError

    def env(self) -> dict[str, str]:
        """The settings that make the service call this simulator."""
        return {}

    def refusals(self) -> Refusals:
        """The provider's own errors by kind, for `fault`."""
        return {}

    def actions(self) -> dict[str, Callable[..., Any]]:
        """What can be done to this simulator from another process; arguments and answers are JSON."""
        return {}

    def received(self) -> list[dict[str, Any]]:
        """What other processes read at `/_control/calls/<name>`: the calls, or what became of them."""
        with self.lock:
            return [call.as_dict() for call in self.calls]

    def reset(self) -> None:
        """Forget everything."""
        with self.lock:
            self.calls.clear()
