"""The worker's part in logs: batches from Redis into the table."""

from __future__ import annotations

from contextlib import suppress
from time import monotonic

from redis.exceptions import RedisError

from app.core.clockwork import each_second
from app.core.queue import BULK, answered, ring_now
from app.logs import buffer

#: Then others have their turn; the clock rings again within a second.
TURN_S = 2.0


def ingest() -> None:
    """Store what waits, batch by batch. Killed at any line, it loses nothing and doubles nothing."""
    with suppress(RedisError):
        answered(ingest)
    stop = monotonic() + TURN_S
    while buffer.waits() and monotonic() < stop:
        buffer.ingest()


@each_second
def ring_for_logs() -> None:
    if buffer.waits():
        ring_now(ingest, queue=BULK)
