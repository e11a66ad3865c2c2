"""RQ worker with the settings of this service and a scheduler process.

Jobs are JSON, because pickled jobs in Redis would allow code execution. The application is created once, before RQ
forks. At the job's timeout, RQ interrupts a hanging job with an alarm signal. RQ sends SIGKILL 60 s later.

Only this module overrides undocumented methods of RQ. A comment in each method gives the reason.
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
from app.core.jobs.queue import QUEUES, release
from app.core.jobs.redis import WORKER, connect
from app.core.jobs.scheduler_process import SchedulerProcess
from config import Config

__all__ = ["QUEUES", "Job", "Worker"]

logger = logging.getLogger(__name__)

#: One or several queues, as names or as RQ objects.
Queues = str | rq.Queue | Sequence[str | rq.Queue]

#: Seconds between two runs of RQ's own cleanup.
MAINTENANCE_S = 30
#: Time to live of RQ's worker in seconds, from which RQ derives other times. RQ waits 5 s (TTL - 15) for a job and 15 s
#: (TTL - 5) for a response of Redis. The registration of a dead worker expires after 80 s (TTL + 60).
WORKER_TTL_S = 20
#: Seconds between two attempts to reconnect to Redis.
RETURN_S = 1.0
#: Maximum seconds to wait for the end of the job that was running when Redis became unavailable. Usually the job ends
#: earlier, at its own timeout.
LAST_JOB_S = 600.0


class Job(rq.job.Job):
    """A job that runs in the application context and writes one log line. Its code opens its own units of work."""

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
    """A worker with the settings of this service. These settings override the options of the command line."""

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
        """Run RQ's loop and a scheduler process. Start the loop again after a Redis error.

        A loop that ends by itself, for example with the option `burst`, runs without a scheduler.
        """
        logging_level = "WARNING"  # at INFO, RQ would add several log lines per job to the line of `Job`
        if burst or options.get("max_jobs") or options.get("max_idle_time"):
            return bool(super().work(burst, logging_level, *args, **options))
        worked = False
        with SchedulerProcess(type(self)):
            while not self._ending:
                try:
                    worked |= bool(super().work(burst, logging_level, *args, **options))
                except RedisError as error:
                    logger.error("worker: Redis is unavailable (%s)", type(error).__name__)  # noqa: TRY400
                except StopRequested:
                    break
                self._wait_for_job()
                self.execution = None  # forget the job that was running during the outage
                if not self._ending:
                    sleep(RETURN_S)
        return worked

    def _wait_for_job(self) -> None:
        """Wait for the job that was running when Redis became unavailable. Kill it after `LAST_JOB_S` seconds."""
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
        except RedisError:
            # RQ failed to write the stop request to Redis. The worker must also stop during a Redis outage.
            raise StopRequested from None

    def register_birth(self) -> None:
        # After a Redis outage, this worker may still be registered. Delete its registration, because RQ refuses a
        # worker whose name is already registered.
        self.connection.delete(self.key)
        super().register_birth()  # type: ignore[no-untyped-call]

    def main_work_horse(self, job: rq.job.Job, queue: rq.Queue) -> None:
        # Drop the connections of the parent process, because two processes on one database connection would read each
        # other's results.
        with self.app.app_context():
            db.engine.dispose(close=False)
        super().main_work_horse(job, queue)

    def handle_warm_shutdown_request(self) -> None:
        # RQ's own method would log free text, but the logs of the service are JSON with fields.
        logger.info("the worker stops after the current job", extra={"signal": signal.SIGTERM.name})


def _names(queues: Queues) -> Sequence[str]:
    several = [queues] if isinstance(queues, (str, rq.Queue)) else queues
    return [queue if isinstance(queue, str) else queue.name for queue in several]
