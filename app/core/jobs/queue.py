"""RQ queues, filled after the commit.

A job receives ids, reads the current rows and claims them. The rows decide; the queue only announces work.
If a job is lost, a sweep of the scheduler enqueues it again. A job that runs twice does nothing the second time.
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
#: Broadcasts, which must not delay other jobs.
BULK = "bulk"
QUEUES = (URGENT, BULK)

#: Default timeout of a job, in seconds.
JOB_TIMEOUT_S = 60
FAILED_JOB_TTL_S = 86400


def init_app(app: Flask, config: Config) -> None:
    app.extensions["redis"] = connect(config.redis_url, **WEB)


def connection() -> Redis:
    """Return the application's Redis connection. Its timeout is 0.2 s."""
    redis: Redis = current_app.extensions["redis"]
    return redis


def enqueue(job: Callable[..., object], *args: object, queue: str = URGENT) -> None:
    """Enqueue `job` after the open unit of work has committed. `args` must be JSON: ids, never rows."""
    after_commit(partial(enqueue_now, job, *args, queue=queue))


def enqueue_now(
    job: Callable[..., object],
    *args: object,
    queue: str = URGENT,
    limit_s: int = JOB_TIMEOUT_S,
    details: Mapping[str, object] | None = None,
) -> None:
    """Enqueue `job` immediately, with `details` as keyword arguments and a timeout of `limit_s` seconds.

    Raise Redis errors if the queue is unavailable.
    """
    Queue(queue, connection=connection(), serializer=JSONSerializer).enqueue(
        _name(job),
        args=args,
        kwargs=details,
        job_timeout=limit_s,
        result_ttl=0,
        failure_ttl=FAILED_JOB_TTL_S,
    )


#: Milliseconds that a dedupe key lives in Redis. After that, a lost job may be enqueued again.
DEDUPE_TTL_MS = 5000


def enqueue_once(job: Callable[..., object], *args: object, queue: str = URGENT, limit_s: int = JOB_TIMEOUT_S) -> None:
    """Enqueue `job` after the commit, unless an equal job is waiting on the queue.

    The worker releases the dedupe key before the job runs. Later commits can then enqueue the job again.
    """
    after_commit(partial(enqueue_once_now, job, *args, queue=queue, limit_s=limit_s))


def enqueue_once_now(
    job: Callable[..., object],
    *args: object,
    queue: str = URGENT,
    limit_s: int = JOB_TIMEOUT_S,
    details: Mapping[str, object] | None = None,
) -> None:
    """Enqueue `job` now, unless a job with the same `args` is waiting on the queue. `details` may differ.

    Raise Redis errors if the queue is unavailable.
    """
    if connection().set(_dedupe_key(queue, _name(job), args), 1, nx=True, px=DEDUPE_TTL_MS):
        enqueue_now(job, *args, queue=queue, limit_s=limit_s, details=details)


def release(queue: str, name: str, args: Sequence[object]) -> None:
    """Release the dedupe key of a job that starts. If Redis is unavailable, the key expires by itself."""
    with suppress(RedisError):
        connection().delete(_dedupe_key(queue, name, args))


def _name(job: Callable[..., object]) -> str:
    return f"{job.__module__}.{job.__qualname__}"


def _dedupe_key(queue: str, name: str, args: Sequence[object]) -> str:
    return "queued:" + ":".join([queue, name, *map(str, args)])
