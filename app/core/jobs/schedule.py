"""The worker's clock: what happens every second, and which jobs are enqueued every so often.

Each `rq worker` of ours brings a clock of its own, so nothing here may mind being done by several at once: ticks look
and enqueue, jobs claim. What ticks and what is periodic stands in `app.wiring`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic, sleep, time

from flask import Flask, current_app
from redis.exceptions import RedisError
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.core.jobs.clock_jump import verified_time
from app.core.jobs.queue import BULK, DEDUPE_TTL_MS, connection, enqueue_once_now

logger = logging.getLogger(__name__)

TICK_S = 1.0

#: The key in Redis that exists while a scheduler ticks; `flask worker-health` reads it. Its value is the number of
#: seconds by which that scheduler sees the database's clock jumped.
HEARTBEAT = "clock:heartbeat"
HEARTBEAT_TTL_S = 15

#: Milliseconds that a clock has to enqueue a periodic job, before another may. The job's dedupe key has gone by then.
TURN_MS = 2 * DEDUPE_TTL_MS

#: Called every second, in the clock's own process: it must be quick, and bear being called by many clocks.
Tick = Callable[[], object]


@dataclass(frozen=True)
class Periodic:
    """A job that all clocks together enqueue once in so many seconds; once more does no harm."""

    job: Callable[[], object]
    every_s: int
    queue: str = BULK


@dataclass
class Schedule:
    """What one clock does, and when it did it last."""

    ticks: Sequence[Tick]
    periodic: Sequence[Periodic]
    #: When each periodic job is looked at again, by this process's monotonic clock.
    _next_at: dict[Periodic, float] = field(default_factory=dict)
    _failures: dict[str, tuple[str, float]] = field(default_factory=dict)

    def tick(self) -> None:
        """One tick: everything of every second, and the periodic jobs whose time has come."""
        try:
            verified_time.verify()
        except (DBAPIError, PoolTimeoutError) as error:
            self._log_failure("the database's clock", error)
        for tick in self.ticks:
            try:
                tick()
            except Exception as error:  # noqa: BLE001  # the clock outlives everything
                self._log_failure(tick.__qualname__, error)
        try:
            connection().set(HEARTBEAT, round(verified_time.jump_s), ex=HEARTBEAT_TTL_S)
            for periodic in self.periodic:
                if monotonic() >= self._next_at.get(periodic, 0.0):
                    self._enqueue(periodic)
        except RedisError as error:
            self._log_failure("the periodic jobs", error)

    def _enqueue(self, periodic: Periodic) -> None:
        key = f"every:{periodic.job.__module__}.{periodic.job.__qualname__}"
        # Half a second less than the period, lest two clocks that are almost one wait for a second round.
        period_ms = periodic.every_s * 1000 - 500
        if connection().set(key, 1, nx=True, px=min(TURN_MS, period_ms)):
            enqueue_once_now(periodic.job, queue=periodic.queue)
            connection().pexpire(key, period_ms)  # only now: whoever ends before costs seconds, and no period
            left_s = float(periodic.every_s)
        else:
            left_s = connection().pttl(key) / 1000
        self._next_at[periodic] = monotonic() + left_s

    def _log_failure(self, what: str, error: Exception) -> None:
        """Log a failing tick, but not the same failure every second."""
        kind, at = self._failures.get(what, ("", 0.0))
        if kind == type(error).__name__ and monotonic() - at < LOG_AGAIN_S:
            return
        self._failures[what] = (type(error).__name__, monotonic())
        logger.error("clock: %s failed", what, exc_info=error)


#: Seconds until the same failure of the same tick is logged again.
LOG_AGAIN_S = 60


def init_app(app: Flask, ticks: Sequence[Tick], periodic: Sequence[Periodic]) -> None:
    app.extensions["schedule"] = Schedule(ticks, periodic)


def tick() -> None:
    """One tick of the present application's clock."""
    schedule: Schedule = current_app.extensions["schedule"]
    schedule.tick()


def run(app: Flask, going_on: Callable[[], bool]) -> None:
    """Tick until `going_on` says no. Neither PostgreSQL nor Redis away, nor a broken tick, ends it."""
    while going_on():
        started = time()
        with app.app_context():
            tick()
        # On the second, so that what falls due on one is seen at once.
        sleep(max(0.05, TICK_S - time() % TICK_S if time() - started < TICK_S else 0.05))
