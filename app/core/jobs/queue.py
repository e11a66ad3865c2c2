"""Jobs for the workers: RQ queues, filled after the commit.

The row is the truth, the queue only says that there is one: a job takes ids, reads the rows again and claims them. A
lost job is made good by the clock's sweep; a job that runs twice does nothing the second time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from flask import Flask, current_app
from redis import Redis
from redis.exceptions import RedisError
from rq import Queue
from rq.serializers import JSONSerializer

from app.core.database.session import after_commit
from app.core.jobs.redis import WEB, connect
from config import Config

#: Reminders, reset links, pushes and logs.
URGENT = "urgent"
#: Broadcasts, which never hold up the others.
BULK = "bulk"
QUEUES = (URGENT, BULK)

#: Seconds that a job may run where nothing else is said.
JOB_TIMEOUT_S = 60
FAILED_JOB_TTL_S = 86400


def init_app(app: Flask, config: Config) -> None:
    app.extensions["redis"] = connect(config.redis_url, **WEB)


def connection() -> Redis:
    """The application's Redis connection; it gives up after 0.2 s."""
    redis: Redis = current_app.extensions["redis"]
    return redis


def enqueue(job: Callable[..., object], *args: object, queue: str = URGENT) -> None:
    """Enqueue `job` once the open unit of work has committed. `args` are JSON: ids, never rows."""
    after_commit(partial(enqueue_now, job, *args, queue=queue))


def enqueue_now(
    job: Callable[..., object],
    *args: object,
    queue: str = URGENT,
    limit_s: int = JOB_TIMEOUT_S,
    details: Mapping[str, object] | None = None,
) -> None:
    """Put `job` on its queue at once, with `details` as keyword arguments; it may run for `limit_s`.

    Raise redis' errors when the queue is away.
    """
    Queue(queue, connection=connection(), serializer=JSONSerializer).enqueue(
        _name(job),
        args=args,
        kwargs=details,
        job_timeout=limit_s,
        result_ttl=0,
        failure_ttl=FAILED_JOB_TTL_S,
    )


#: Milliseconds a dedupe key lives in Redis. A job that was lost may be enqueued again after that.
DEDUPE_TTL_MS = 5000


def enqueue_once(job: Callable[..., object], *args: object, queue: str = URGENT, limit_s: int = JOB_TIMEOUT_S) -> None:
    """Like `enqueue`, but not while an equal job is waiting on the queue: many commits, one job.

    The worker releases the dedupe key before the job runs, so that what commits from then on enqueues anew.
    """
    after_commit(partial(enqueue_once_now, job, *args, queue=queue, limit_s=limit_s))


def enqueue_once_now(
    job: Callable[..., object],
    *args: object,
    queue: str = URGENT,
    limit_s: int = JOB_TIMEOUT_S,
    details: Mapping[str, object] | None = None,
) -> None:
    """Enqueue `job` now unless one with equal `args` is waiting on the queue, whatever its `details`.

    Raise redis' errors when the queue is away.
    """
    if connection().set(_dedupe_key(queue, _name(job), args), 1, nx=True, px=DEDUPE_TTL_MS):
        enqueue_now(job, *args, queue=queue, limit_s=limit_s, details=details)


def release(queue: str, name: str, args: Sequence[object]) -> None:
    """Release the dedupe key of a job that begins. While Redis is away it expires by itself."""
    with suppress(RedisError):
        connection().delete(_dedupe_key(queue, name, args))


def _name(job: Callable[..., object]) -> str:
    return f"{job.__module__}.{job.__qualname__}"


def _dedupe_key(queue: str, name: str, args: Sequence[object]) -> str:
    return "queued:" + ":".join([queue, name, *map(str, args)])
