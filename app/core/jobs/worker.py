"""RQ's worker as this service needs it.

Jobs are JSON (pickle in Redis would be code execution), the application is made once before the fork, each job runs in
its context and leaves one log line, the worker has a clock process of its own, and it goes on when Redis is back.
"""

from __future__ import annotations

import logging
import signal
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic, perf_counter, sleep
from types import FrameType
from typing import TYPE_CHECKING, Any, ClassVar

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

if TYPE_CHECKING:
    from redis.client import Pipeline

__all__ = ["QUEUES", "Job", "Worker"]

logger = logging.getLogger(__name__)

#: One queue or several, by name or as RQ's object.
Queues = str | rq.Queue | Sequence[str | rq.Queue]

#: Seconds between RQ's own cleanups, and until a worker that says nothing counts as dead.
MAINTENANCE_S = 30
WORKER_TTL_S = 60
#: Seconds of one blocking read of the queue, so that a connection that hangs is noticed.
DEQUEUE_S = 5
#: Seconds between looks at the process of a running job, and past the job's limit until one that hangs is killed: more
#: than a drain gives its last calls. RQ waits 60: a process that is stopped does not hear the alarm that ends the job.
LOOK_S = 5
HUNG_S = 12
#: So many seconds late, a look finds that this worker stood still.
STANDSTILL_S = 2
#: Seconds between attempts to begin again while Redis is away.
RETURN_S = 1.0


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
    #: Of the running job: when a look at it ended last, how many seconds this worker has lived through since it began,
    #: and whether it stood still before the present look.
    _looked_at = _lived_s = 0.0
    _stood_still = False

    def __init__(self, queues: Queues, name: str | None = None, **options: Any) -> None:
        if options.get("prepare_for_work", True):
            config: Config = self.app.extensions["config"]
            options |= {
                "connection": connect(config.redis_url, **WORKER),
                "job_class": self.job_class,
                "default_result_ttl": 0,
                "maintenance_interval": MAINTENANCE_S,
                "worker_ttl": WORKER_TTL_S,
                "job_monitoring_interval": LOOK_S,
                "log_job_description": False,
            }
            options.pop("default_worker_ttl", None)
        options["serializer"] = JSONSerializer
        super().__init__(_names(queues), name=name, **options)
        self._ending = False

    @property
    def dequeue_timeout(self) -> int:
        return DEQUEUE_S

    def work(self, burst: bool = False, *args: Any, **kwargs: Any) -> bool:
        """RQ's loop, begun again whenever Redis ended it; with the clock beside it, except in a burst."""
        if burst or kwargs.get("max_jobs") or kwargs.get("max_idle_time"):
            return bool(super().work(burst, *args, **kwargs))
        worked = False
        with ClockProcess(self.app):
            while not self._ending:
                try:
                    worked |= bool(super().work(burst, *args, **kwargs))
                except RedisError as error:
                    logger.error("worker: Redis is away (%s)", type(error).__name__)  # noqa: TRY400
                except StopRequested:
                    break
                if not self._ending:
                    sleep(RETURN_S)
        return worked

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        self._ending = True
        try:
            super().request_stop(signum, frame)  # type: ignore[no-untyped-call]
        except RedisError:  # RQ notes the request there
            raise StopRequested from None

    def register_birth(self) -> None:
        self.connection.delete(self.key)  # our own registration from before Redis went away
        super().register_birth()  # type: ignore[no-untyped-call]

    def bootstrap(self, *args: Any, **kwargs: Any) -> None:
        # RQ logs several lines of free text a job; ours is one line of JSON.
        logging.getLogger("rq.worker").setLevel(logging.WARNING)
        super().bootstrap(*args, **kwargs)

    def main_work_horse(self, job: rq.job.Job, queue: rq.Queue) -> None:
        # Two processes on one database connection would read each other's results.
        with self.app.app_context():
            db.engine.dispose(close=False)
            self.app.extensions["autocommit"].dispose(close=False)
        super().main_work_horse(job, queue)

    def monitor_work_horse(self, job: rq.job.Job, queue: rq.Queue) -> None:
        self._looked_at, self._lived_s = monotonic(), 0.0
        super().monitor_work_horse(job, queue)

    def set_current_job_working_time(self, current_job_working_time: float, pipeline: Pipeline | None = None) -> None:
        """Count the seconds that this worker lived through.

        RQ's are the wall clock's: those in which the machine was paused, and its job with it, and those that the clock
        was put forward, would be the job's, which is killed after its limit. What a look waits for Redis counts as
        little: while it is away, a process that hangs holds nobody up.
        """
        if current_job_working_time:
            since_s = monotonic() - self._looked_at
            self._stood_still = since_s > LOOK_S + STANDSTILL_S
            self._lived_s += LOOK_S if self._stood_still else since_s
            current_job_working_time = self._lived_s
        with suppress(RedisError):  # which nobody needs to look at a process
            super().set_current_job_working_time(current_job_working_time, pipeline)

    def maintain_heartbeats(self, job: rq.job.Job) -> None:
        worked_s = self.current_job_working_time
        # A job that was paused with this worker may be recording what came meanwhile.
        if job.timeout is not None and 0 < job.timeout + HUNG_S < worked_s and not self._stood_still:
            logger.error("the process of a job hangs and is killed", extra={"job": job.func_name})
            self.kill_horse()
        with suppress(RedisError):
            super().maintain_heartbeats(job)
        self._looked_at = monotonic()

    def handle_warm_shutdown_request(self) -> None:
        logger.info("worker ends after its present job", extra={"signal": signal.SIGTERM.name})


def _names(queues: Queues) -> Sequence[str]:
    several = [queues] if isinstance(queues, (str, rq.Queue)) else queues
    return [queue if isinstance(queue, str) else queue.name for queue in several]
