"""Simulators of the external services, with the same HTTP APIs on loopback. They never run in production.

In a test, use `with simulators() as sim:`. `sim.env` contains the settings that make the service call the simulators.
`sim.messaging.sent` contains the sent messages. `sim.fault("messaging", "hang", times=1)` plans a fault.

`SIMULATE=1 make run` starts the simulators with `python -m dev.simulators`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dev.simulators.messaging import Messaging
from dev.simulators.push import Push
from dev.simulators.replayed import Captcha, Heartbeat, Ministry, PlacesSearch, Videos
from dev.simulators.server import Server

__all__ = ["Server", "simulators"]


@contextmanager
def simulators() -> Iterator[Server]:
    """Run all simulators during the block."""
    server = Server([Messaging(), Captcha(), Videos(), Ministry(), Push(), PlacesSearch(), Heartbeat()])
    server.start()
    try:
        yield server
    finally:
        server.stop()
