"""What `rq worker -c worker -w worker.Worker` reads: where Redis is, the queues, and our kind of worker."""

from __future__ import annotations

from app import create_app, loading
from config import Config

with loading():
    from app.core import workers
    from app.core.redis import sentinel_of

    config = Config.from_env()
    app = create_app(config)

#: Where `rq`'s command line looks; the worker itself connects by `app.core.redis`.
SENTINEL = sentinel_of(config.redis_url)
REDIS_URL = None if SENTINEL else config.redis_url
#: Without a queue on the command line one process serves both, the urgent one first.
QUEUES = list(workers.QUEUES)


class Job(workers.Job):
    """A job of this application."""

    app = app


class Worker(workers.Worker):
    """A worker of this application, with its own clock."""

    app = app
    job_class = Job
