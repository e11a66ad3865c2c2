"""Faithful stand-ins of the outside services, speaking their wires over loopback HTTP.

In a test, `with simulators() as sim:` gives `sim.env` (settings that point the service here),
`sim.messaging.sent`, `sim.fault("messaging", "hang", times=1)`. For other processes there is
`python -m dev.simulators`, with `/_control` at its address. None of it runs in production.
"""

from dev.simulators.catalogue import simulators
from dev.simulators.server import Server

__all__ = ["Server", "simulators"]
