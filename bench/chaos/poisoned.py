"""Worker class whose process dies when it sends a poisonous delivery (see `poison`).

Run it with `rq worker -c worker -w bench.chaos.poisoned.Worker`.
"""

from __future__ import annotations

from dataclasses import replace

import worker
from app.notifications.models import Channel
from bench.chaos.poison import poisoned

routing = worker.app.extensions["routing"]
transports = {**routing.transports, Channel.MESSAGING: poisoned(routing.transports[Channel.MESSAGING])}
worker.app.extensions["routing"] = replace(routing, transports=transports)

Worker = worker.Worker
