"""Work that leaves the request: RQ queues, rung after the commit.

The row is the truth and the queue is a doorbell: a job takes ids, reads again and claims. Losing one is made good by
the clock's sweep; running one twice does nothing the second time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from flask import Flask, current_app
from redis import Redis
from rq import Queue
from rq.serializers import JSONSerializer

from app.core.database.session import after_commit
from app.core.jobs.redis import WEB, connect
from config import Config

logger = logging.getLogger(__name__)

#: Reminders, reset links, pushes and logs.
URGENT = "urgent"
#: Broadcasts, which never hold up the others.
BULK = "bulk"
QUEUES = (URGENT, BULK)

#: A job may run so long; drains end by themselves well before.
JOB_TIMEOUT_S = 60
FAILED_JOB_TTL_S = 86400


def init_app(app: Flask, config: Config) -> None:
    app.extensions["redis"] = connect(config.redis_url, **WEB)


def connection() -> Redis:
    """The web process's Redis connection, which gives up fast."""
    found: Redis = current_app.extensions["redis"]
    return found


def enqueue(job: Callable[..., object], *args: Any, queue: str = URGENT) -> None:
    """Ring `job` once the open unit of work has committed. `args` are JSON: ids, never rows."""
    after_commit(partial(push, job, *args, queue=queue))


def push(job: Callable[..., object], *args: Any, queue: str = URGENT, redis: Redis | None = None) -> None:
    """Put `job` on its queue now. Raises redis' errors when the queue is away."""
    Queue(queue, connection=redis or connection(), serializer=JSONSerializer).enqueue(
        f"{job.__module__}.{job.__qualname__}",
        args=args,
        job_timeout=JOB_TIMEOUT_S,
        result_ttl=0,
        failure_ttl=FAILED_JOB_TTL_S,
    )


#: A bell that nobody answered rings again after so long.
BELL_TTL_MS = 5000


def ring(job: Callable[..., object], *args: Any, queue: str = URGENT) -> None:
    """Like `enqueue`, but at most one such job waits: many commits, one doorbell.

    The job says `answered(job, *args)` as its first act, so that whatever commits after it rings anew.
    """
    after_commit(partial(ring_now, job, *args, queue=queue))


def ring_now(job: Callable[..., object], *args: Any, queue: str = URGENT, redis: Redis | None = None) -> None:
    redis = redis or connection()
    if redis.set(_bell(job, args), 1, nx=True, px=BELL_TTL_MS):
        push(job, *args, queue=queue, redis=redis)


def answered(job: Callable[..., object], *args: Any, redis: Redis | None = None) -> None:
    (redis or connection()).delete(_bell(job, args))


def _bell(job: Callable[..., object], args: tuple[Any, ...]) -> str:
    return "bell:" + ":".join([job.__qualname__, *map(str, args)])
