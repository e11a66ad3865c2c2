"""The worker's clock: what happens every second, and which jobs are rung every so often.

Each `rq worker` of ours brings a clock of its own, so nothing here may mind being done by several at once: ticks look
and ring, jobs claim. Sections put themselves on the clock with the two decorators.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic, sleep, time
from typing import TypeVar

from flask import Flask
from redis.exceptions import RedisError

from app.core.jobs import queue

logger = logging.getLogger(__name__)

TICK_S = 1.0

#: Says in Redis that a clock is going; what `flask worker-health` looks for.
BEAT = "clock:beat"
BEAT_TTL_S = 15

Tick = Callable[[], object]
F = TypeVar("F", bound=Callable[..., object])


@dataclass
class _Periodic:
    job: Callable[[], object]
    seconds: int
    queue: str
    next_at: float = 0.0


_ticks: list[Tick] = []
_periodics: list[_Periodic] = []


def each_second(tick: F) -> F:
    """Call `tick` every second, in the clock's own process: it must be quick, and bear being called by many clocks."""
    _ticks.append(tick)
    return tick


def every(seconds: int, *, on: str = queue.BULK) -> Callable[[F], F]:
    """Ring this job every so many seconds, once for all clocks together; a doorbell more does no harm."""

    def register(job: F) -> F:
        _periodics.append(_Periodic(job, seconds, on))
        return job

    return register


def run(app: Flask, going_on: Callable[[], bool]) -> None:
    """Tick until `going_on` says no. Neither PostgreSQL nor Redis away, nor a broken tick, ends it."""
    while going_on():
        started = time()
        with app.app_context():
            beat()
        # On the second, so that what falls due on one is seen at once.
        sleep(max(0.05, TICK_S - time() % TICK_S if time() - started < TICK_S else 0.05))


def beat() -> None:
    """One tick: everything of every second, and what is up among the periodic jobs."""
    for tick in _ticks:
        try:
            tick()
        except Exception as error:  # noqa: BLE001  # the clock outlives everything
            _tell(tick.__qualname__, error)
    try:
        queue.connection().set(BEAT, int(time()), ex=BEAT_TTL_S)
        for periodic in _periodics:
            if monotonic() >= periodic.next_at:
                _ring(periodic)
    except RedisError as error:
        _tell("the periodic jobs", error)


def _ring(periodic: _Periodic) -> None:
    name = f"every:{periodic.job.__module__}.{periodic.job.__qualname__}"
    # Half a second less than the period, lest two clocks that are almost one wait for a second round.
    if queue.connection().set(name, 1, nx=True, px=periodic.seconds * 1000 - 500):
        queue.ring_now(periodic.job, queue=periodic.queue)
    periodic.next_at = monotonic() + periodic.seconds


_told: dict[str, tuple[str, float]] = {}
TELL_AGAIN_S = 60


def _tell(what: str, error: Exception) -> None:
    """Log a failing tick, but not the same failure every second."""
    kind, at = _told.get(what, ("", 0.0))
    if kind == type(error).__name__ and monotonic() - at < TELL_AGAIN_S:
        return
    _told[what] = (type(error).__name__, monotonic())
    logger.error("clock: %s failed", what, exc_info=error)
