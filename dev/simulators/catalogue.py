"""Collection of all simulators. A new simulator needs a module with a `Simulator` class, and a line in this module."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dev.simulators.base import Simulator
from dev.simulators.captcha import Captcha
from dev.simulators.control import control_routes
from dev.simulators.heartbeat import Heartbeat
from dev.simulators.messaging import Messaging
from dev.simulators.ministry import Ministry
from dev.simulators.places import PlacesSearch
from dev.simulators.push import Push
from dev.simulators.server import Server
from dev.simulators.videos import Videos


def all_simulators() -> list[Simulator]:
    return [Messaging(), Captcha(), Videos(), Ministry(), Push(), PlacesSearch(), Heartbeat()]


@contextmanager
def simulators(port: int = 0, only: list[Simulator] | None = None) -> Iterator[Server]:
    """Run all simulators during the block.

    >>> with simulators() as sim:
    ...     sim.fault("messaging", "hang", times=1)
    """
    server = Server(all_simulators() if only is None else only, port)
    server.serve(control_routes(server))
    server.start()
    try:
        yield server
    finally:
        server.stop()
