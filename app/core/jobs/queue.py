"""RQ queues. A job is enqueued after the transaction has committed.

A job receives ids, reads the current rows and claims them (marks them as its own). The work to do is stored in the
rows. If a job is lost, a periodic job enqueues it again. If a job runs twice, the second run does nothing. A job that
waits too long expires, so that an outage of the workers leaves no old jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

#: Queue for reminders, reset links, push notifications and activity logs.
URGENT = "urgent"
#: Queue for broadcasts and periodic jobs. It is separate, so that these jobs do not delay urgent jobs.
BULK = "bulk"
QUEUES = (URGENT, BULK)

#: Seconds after which a job is stopped, unless it has its own timeout.
JOB_TIMEOUT_S = 60
FAILED_JOB_TTL_S = 86400
#: Seconds after which a waiting job expires. The work is in the tables, and the scheduler enqueues a new job for it.
MAX_WAIT_S = 60


def init_app(app: Flask, config: Config) -> None:
    app.extensions["redis"] = connect(config.redis_url, **WEB)


def connection() -> Redis:
    """Return the application's Redis connection. Its timeout is 0.2 seconds."""
    redis: Redis = current_app.extensions["redis"]
    return redis


def enqueue(job: Callable[..., object], *args: object, queue: str = URGENT) -> None:
    """Enqueue `job` after the open unit of work has committed. `args` must be JSON values: ids, never rows."""
    after_commit(partial(enqueue_now, job, *args, queue=queue))


def enqueue_now(
    job: Callable[..., object],
    *args: object,
    queue: str = URGENT,
    limit_s: int = JOB_TIMEOUT_S,
    wait_s: int = MAX_WAIT_S,
) -> None:
    """Enqueue `job` immediately. Raise Redis errors if the queue is unavailable.

    The job expires after it has waited for `wait_s` seconds. It is stopped after it has run for `limit_s` seconds.
    """
    Queue(queue, connection=connection(), serializer=JSONSerializer).enqueue(
        _name(job),
        args=args,
        ttl=wait_s,
        job_timeout=limit_s,
        result_ttl=0,
        failure_ttl=FAILED_JOB_TTL_S,
    )


#: Milliseconds after which a dedupe key (the Redis key that marks a waiting job) expires. A lost job can then be
#: enqueued again.
DEDUPE_TTL_MS = 5000


def enqueue_once(job: Callable[..., object], *args: object, queue: str = URGENT, limit_s: int = JOB_TIMEOUT_S) -> None:
    """Enqueue `job` after the commit, unless the same job with the same arguments is already waiting.

    The worker releases the dedupe key before the job runs. Later commits can then enqueue the job again.
    """
    after_commit(partial(enqueue_once_now, job, *args, queue=queue, limit_s=limit_s))


def enqueue_once_now(
    job: Callable[..., object],
    *args: object,
    queue: str = URGENT,
    limit_s: int = JOB_TIMEOUT_S,
    wait_s: int = MAX_WAIT_S,
) -> None:
    """Enqueue `job` now, unless the same job with the same arguments is already waiting.

    Raise Redis errors if the queue is unavailable.
    """
    if connection().set(_dedupe_key(queue, _name(job), args), 1, nx=True, px=DEDUPE_TTL_MS):
        enqueue_now(job, *args, queue=queue, limit_s=limit_s, wait_s=wait_s)


def release(queue: str, name: str, args: Sequence[object]) -> None:
    """Delete the dedupe key of a job that starts. If Redis is unavailable, the key expires after `DEDUPE_TTL_MS`."""
    with suppress(RedisError):
        connection().delete(_dedupe_key(queue, name, args))


def _name(job: Callable[..., object]) -> str:
    return f"{job.__module__}.{job.__qualname__}"


def _dedupe_key(queue: str, name: str, args: Sequence[object]) -> str:
    return "queued:" + ":".join([queue, name, *map(str, args)])
