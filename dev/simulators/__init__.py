"""Simulators of the external services, with the same HTTP APIs on loopback. They never run in production.

In a test, `with simulators() as sim:` gives `sim.env` (settings that make the service use the simulators),
`sim.messaging.sent` and `sim.fault("messaging", "hang", times=1)`. Other processes run `python -m dev.simulators` and
use `/_control` at its address.
"""

from dev.simulators.catalogue import simulators
from dev.simulators.server import Server

__all__ = ["Server", "simulators"]
