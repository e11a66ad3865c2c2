"""The worker's scheduler: actions for every second, and jobs to enqueue periodically.

Each of our `rq worker` processes runs its own scheduler, so several may do the same work at once. Ticks only check and
enqueue; jobs claim their rows. `app.wiring` lists the ticks and the periodic jobs.
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

#: Redis key that exists while a scheduler ticks. `flask worker-health` reads it. Its value is the jump of the
#: database's clock in seconds, as seen by that scheduler.
HEARTBEAT = "clock:heartbeat"
HEARTBEAT_TTL_S = 15

#: Milliseconds in which one scheduler may enqueue a periodic job before another may. The job's dedupe key has expired
#: by then.
TURN_MS = 2 * DEDUPE_TTL_MS

#: A function that every scheduler process calls each second. It must be fast and safe to run concurrently.
Tick = Callable[[], object]


@dataclass(frozen=True)
class Periodic:
    """A job that is enqueued every `every_s` seconds by all schedulers together. An extra run does no harm."""

    job: Callable[[], object]
    every_s: int
    queue: str = BULK


@dataclass
class Scheduler:
    """The work of one scheduler, and the time of its last runs."""

    ticks: Sequence[Tick]
    periodic: Sequence[Periodic]
    #: Time of the next check of each periodic job, by this process's monotonic clock.
    _next_at: dict[Periodic, float] = field(default_factory=dict)
    _failures: dict[str, tuple[str, float]] = field(default_factory=dict)

    def tick(self) -> None:
        """Run all ticks and enqueue the periodic jobs that are due."""
        try:
            verified_time.verify()
        except (DBAPIError, PoolTimeoutError) as error:
            self._log_failure("the database's clock", error)
        for tick in self.ticks:
            try:
                tick()
            except Exception as error:  # noqa: BLE001  # an error in one tick must not end the scheduler
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
        # Half a second less than the period, so that two schedulers almost in step do not skip a round.
        period_ms = periodic.every_s * 1000 - 500
        if connection().set(key, 1, nx=True, px=min(TURN_MS, period_ms)):
            enqueue_once_now(periodic.job, queue=periodic.queue)
            # Extend the key only now: a process that dies earlier delays the job by seconds, not by a period.
            connection().pexpire(key, period_ms)
            left_s = float(periodic.every_s)
        else:
            left_s = connection().pttl(key) / 1000
        self._next_at[periodic] = monotonic() + left_s

    def _log_failure(self, what: str, error: Exception) -> None:
        """Log a failing tick, but repeat the same failure at most once per `LOG_AGAIN_S`."""
        kind, at = self._failures.get(what, ("", 0.0))
        if kind == type(error).__name__ and monotonic() - at < LOG_AGAIN_S:
            return
        self._failures[what] = (type(error).__name__, monotonic())
        logger.error("clock: %s failed", what, exc_info=error)


#: Seconds before the same failure of the same tick is logged again.
LOG_AGAIN_S = 60


def init_app(app: Flask, ticks: Sequence[Tick], periodic: Sequence[Periodic]) -> None:
    app.extensions["schedule"] = Scheduler(ticks, periodic)


def tick() -> None:
    """Run one tick of the current application's scheduler."""
    schedule: Scheduler = current_app.extensions["schedule"]
    schedule.tick()


def run(app: Flask, going_on: Callable[[], bool]) -> None:
    """Tick while `going_on()` is true. Errors of PostgreSQL, Redis or a single tick do not end the loop."""
    while going_on():
        started = time()
        with app.app_context():
            tick()
        # Tick at the start of each second, so that items due at that second are found at once.
        sleep(max(0.05, TICK_S - time() % TICK_S if time() - started < TICK_S else 0.05))
