"""Simulators of the external services, with the same HTTP APIs on loopback. They never run in production.

In a test, use `with simulators() as sim:`. `sim.env` contains the settings that make the service call the simulators.
`sim.messaging.sent` contains the sent messages. `sim.fault("messaging", "hang", times=1)` plans a fault.

A program that cannot use this context manager starts the simulators with `python -m dev.simulators`. The program then
calls the simulators' routes below `/_control`.
"""

from dev.simulators.control import simulators
from dev.simulators.server import Server

__all__ = ["Server", "simulators"]
