"""The scheduler of a worker: functions that run every second, and jobs that are enqueued periodically.

Each `rq worker` process starts its own scheduler, so several schedulers may do the same work at once. A tick (one run
of the scheduler) only checks for due work and enqueues jobs. The jobs claim their rows. `app.wiring` lists the
functions and the periodic jobs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic, sleep, time

from flask import Flask, current_app
from redis.exceptions import RedisError

from app.core.database.session import db
from app.core.jobs.queue import BULK, DEDUPE_TTL_MS, connection, enqueue_once_now

logger = logging.getLogger(__name__)

TICK_S = 1.0

#: Redis key that exists while a scheduler is running. `flask worker-health` reads the key.
HEARTBEAT = "clock:heartbeat"
HEARTBEAT_TTL_S = 15

#: If a scheduler dies before it enqueues a periodic job, another scheduler may enqueue the job after this time in
#: milliseconds. The time is longer than `DEDUPE_TTL_MS`, so that the dedupe key of the job has expired by then.
TURN_MS = 2 * DEDUPE_TTL_MS

#: A function that every scheduler process calls each second. It must be fast, and concurrent calls must be safe.
Tick = Callable[[], object]


@dataclass(frozen=True)
class Periodic:
    """A job that is enqueued once every `every_s` seconds, even if several schedulers run.

    An additional run does no harm.
    """

    job: Callable[[], object]
    every_s: int
    queue: str = BULK


@dataclass
class Scheduler:
    """A scheduler: its functions, its periodic jobs, and the times of its next checks."""

    ticks: Sequence[Tick]
    periodic: Sequence[Periodic]
    #: Time of the next check of each periodic job, in seconds of this process's monotonic clock.
    _next_at: dict[Periodic, float] = field(default_factory=dict)
    _failures: dict[str, tuple[str, float]] = field(default_factory=dict)

    def tick(self) -> None:
        """Call all tick functions and enqueue the periodic jobs that are due."""
        for tick in self.ticks:
            try:
                tick()
            except Exception as error:  # noqa: BLE001  # an error in one tick must not end the scheduler
                self._log_failure(tick.__qualname__, error)
                db.session.remove()  # its connection may be broken
        try:
            connection().set(HEARTBEAT, 1, ex=HEARTBEAT_TTL_S)
            for periodic in self.periodic:
                if monotonic() >= self._next_at.get(periodic, 0.0):
                    self._enqueue(periodic)
        except RedisError as error:
            self._log_failure("the periodic jobs", error)

    def _enqueue(self, periodic: Periodic) -> None:
        key = f"every:{periodic.job.__module__}.{periodic.job.__qualname__}"
        # The key expires half a second before the period ends. Otherwise two schedulers that run at nearly the same
        # time could skip a period.
        period_ms = periodic.every_s * 1000 - 500
        if connection().set(key, 1, nx=True, px=min(TURN_MS, period_ms)):
            enqueue_once_now(periodic.job, queue=periodic.queue, wait_s=periodic.every_s)
            # The key has a short lifetime until the job is enqueued. If this process dies before that, another
            # scheduler enqueues the job seconds later. Now the job is enqueued, so keep the key for a whole period.
            connection().pexpire(key, period_ms)
            left_s = float(periodic.every_s)
        else:
            left_s = connection().pttl(key) / 1000
        self._next_at[periodic] = monotonic() + left_s

    def _log_failure(self, what: str, error: Exception) -> None:
        """Log the error of a tick function. Log the same error again only after `LOG_AGAIN_S` seconds."""
        kind, at = self._failures.get(what, ("", 0.0))
        if kind == type(error).__name__ and monotonic() - at < LOG_AGAIN_S:
            return
        self._failures[what] = (type(error).__name__, monotonic())
        logger.error("scheduler: %s failed", what, exc_info=error)


#: Seconds before the same error of the same tick function is logged again.
LOG_AGAIN_S = 60


def init_app(app: Flask, ticks: Sequence[Tick], periodic: Sequence[Periodic]) -> None:
    app.extensions["schedule"] = Scheduler(ticks, periodic)


def tick() -> None:
    """Call the tick functions once, with the scheduler of the current application."""
    schedule: Scheduler = current_app.extensions["schedule"]
    schedule.tick()


def run(app: Flask, going_on: Callable[[], bool]) -> None:
    """Run a tick every second while `going_on()` is true. Errors of PostgreSQL, Redis or a tick do not end the loop."""
    while going_on():
        started = time()
        with app.app_context():
            tick()
        # Start each tick at the beginning of a second, so that items due at that second are found without delay.
        sleep(max(0.05, TICK_S - time() % TICK_S if time() - started < TICK_S else 0.05))
