"""RQ's worker with the settings of this service, a scheduler process, and a new start after Redis was away.

Jobs are JSON, because pickle in Redis would be code execution. The application is made once, before RQ forks. Each job
runs in its context and writes one log line.

This is the only module that overrides methods which RQ does not document, for these reasons:

- `request_stop`: RQ writes to Redis in its signal handler, so it would not end while Redis is away.
- `register_birth`: RQ refuses the name of a worker that is registered, and we register again after Redis was away.
- `main_work_horse`: the forked process needs database connections of its own.
- `handle_warm_shutdown_request`: RQ's log line is free text.

RQ itself ends a job that hangs: by an alarm at its limit, and by SIGKILL 60 s later. Other workers go on meanwhile.
"""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic, perf_counter, sleep
from types import FrameType
from typing import Any, ClassVar

import rq.job
import rq.worker
from flask import Flask, g
from redis.exceptions import RedisError
from rq.exceptions import StopRequested
from rq.serializers import JSONSerializer

from app.core.database.session import db
from app.core.jobs import metrics
from app.core.jobs.clock_process import ClockProcess
from app.core.jobs.queue import QUEUES, release
from app.core.jobs.redis import WORKER, connect
from config import Config

__all__ = ["QUEUES", "Job", "Worker"]

logger = logging.getLogger(__name__)

#: One queue or several, by name or as RQ's object.
Queues = str | rq.Queue | Sequence[str | rq.Queue]

#: Seconds between RQ's own cleanups.
MAINTENANCE_S = 30
#: RQ asks Redis for a job 15 s less at a time, and waits 5 s less for the response of Redis. The registration of a
#: worker that died stays 60 s longer.
WORKER_TTL_S = 20
#: Seconds between attempts to begin again while Redis is away.
RETURN_S = 1.0
#: Seconds to wait for the job that was running when Redis went away. Its own alarm ends it much earlier, if it can.
LAST_JOB_S = 600.0


class Job(rq.job.Job):
    """A job inside the application: its context, its counts, and one log line. Jobs open their own units of work."""

    app: ClassVar[Flask]

    def perform(self) -> object:
        started = perf_counter()
        outcome = "failed"
        with self.app.app_context():
            g.job_id = self.id
            release(self.origin, str(self.func_name), self.args)
            try:
                result: object = super().perform()
                outcome = "done"
                return result
            finally:
                metrics.hand_over()
                logger.info(
                    "job",
                    extra={
                        "job": self.func_name,
                        "queue": self.origin,
                        "outcome": outcome,
                        "ms": round((perf_counter() - started) * 1000, 1),
                    },
                )


class Worker(rq.worker.Worker):
    """A worker whose settings are ours, whatever the command line's defaults are."""

    app: ClassVar[Flask]
    log_result_lifespan = False
    max_connection_wait_time = 5.0

    def __init__(self, queues: Queues, name: str | None = None, **options: Any) -> None:
        if options.get("prepare_for_work", True):
            config: Config = self.app.extensions["config"]
            options |= {
                "connection": connect(config.redis_url, **WORKER),
                "job_class": self.job_class,
                "default_result_ttl": 0,
                "maintenance_interval": MAINTENANCE_S,
                "worker_ttl": WORKER_TTL_S,
                "log_job_description": False,
            }
            options.pop("default_worker_ttl", None)
        options["serializer"] = JSONSerializer
        super().__init__(_names(queues), name=name, **options)
        self._ending = False

    def work(self, burst: bool = False, logging_level: str | None = None, *args: Any, **options: Any) -> bool:
        """Run RQ's loop with a scheduler process. Start the loop again if Redis has ended it.

        A loop that ends by itself, such as a burst, has no scheduler.
        """
        logging_level = "WARNING"  # RQ logs several lines a job, and `Job` logs one
        if burst or options.get("max_jobs") or options.get("max_idle_time"):
            return bool(super().work(burst, logging_level, *args, **options))
        worked = False
        with ClockProcess(type(self)):
            while not self._ending:
                try:
                    worked |= bool(super().work(burst, logging_level, *args, **options))
                except RedisError as error:
                    logger.error("worker: Redis is away (%s)", type(error).__name__)  # noqa: TRY400
                except StopRequested:
                    break
                self._wait_for_job()
                self.execution = None  # of a job that was running when Redis went away
                if not self._ending:
                    sleep(RETURN_S)
        return worked

    def _wait_for_job(self) -> None:
        """Wait for the job that was running when Redis went away, or nobody would watch it. Kill it after a while."""
        stop = monotonic() + LAST_JOB_S
        while self.horse_pid:
            with suppress(ChildProcessError):
                if os.waitpid(self.horse_pid, os.WNOHANG) == (0, 0):
                    if monotonic() > stop:
                        self.kill_horse()
                    sleep(RETURN_S)
                    continue
            return

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        self._ending = True
        try:
            super().request_stop(signum, frame)  # type: ignore[no-untyped-call]
        except RedisError:  # RQ notes the request there
            raise StopRequested from None

    def register_birth(self) -> None:
        self.connection.delete(self.key)  # our own registration from before Redis went away
        super().register_birth()  # type: ignore[no-untyped-call]

    def main_work_horse(self, job: rq.job.Job, queue: rq.Queue) -> None:
        # Two processes on one database connection would read each other's results.
        with self.app.app_context():
            db.engine.dispose(close=False)
            self.app.extensions["autocommit"].dispose(close=False)
        super().main_work_horse(job, queue)

    def handle_warm_shutdown_request(self) -> None:
        logger.info("worker ends after its present job", extra={"signal": signal.SIGTERM.name})


def _names(queues: Queues) -> Sequence[str]:
    several = [queues] if isinstance(queues, (str, rq.Queue)) else queues
    return [queue if isinstance(queue, str) else queue.name for queue in several]
