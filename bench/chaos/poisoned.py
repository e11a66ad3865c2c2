"""Worker class whose process dies when it sends a poisonous delivery (see `poison`).

Run it with `rq worker -c worker -w bench.chaos.poisoned.Worker`.
"""

from __future__ import annotations

import os
import signal
from dataclasses import replace

import worker
from app.notifications.delivery.claims import Claimed
from app.notifications.models import Channel
from bench.chaos.poison import POISON

routing = worker.app.extensions["routing"]


def send(delivery: Claimed) -> str | None:
    if POISON in str(delivery.words.get("text")):
        os.kill(os.getpid(), signal.SIGKILL)
    ref: str | None = routing.transports[Channel.MESSAGING](delivery)
    return ref


transports = {**routing.transports, Channel.MESSAGING: send}
worker.app.extensions["routing"] = replace(routing, transports=transports)

Worker = worker.Worker
