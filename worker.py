"""What `rq worker -c worker -w worker.Worker` reads: where Redis is, the queues, and our kind of worker."""

from __future__ import annotations

from app import create_app
from app.core import workers
from config import Config

config = Config.from_env()
app = create_app(config)

#: For `rq` itself; the worker connects by `app.core.redis`, which knows more kinds of addresses.
REDIS_URL = workers.plain_url(config)
#: Without a queue on the command line one process serves both, the urgent one first.
QUEUES = list(workers.QUEUES)


class Job(workers.Job):
    """A job of this application."""

    app = app


class Worker(workers.Worker):
    """A worker of this application, with its own clock."""

    app = app
    job_class = Job
