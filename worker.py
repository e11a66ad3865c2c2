"""What `rq worker -c worker -w worker.Worker` reads: where Redis is, the queues, and our kind of worker."""

from __future__ import annotations

import logging
import os

from app import create_app
from app.core.operations.startup import loading
from config import Config, environment, warnings

# What jobs count goes to Redis. In the folder of gunicorn's processes each job would leave a file behind.
os.environ.pop("PROMETHEUS_MULTIPROC_DIR", None)  # noqa: TID251  # it is prometheus-client that reads it

with loading():
    import pywebpush  # noqa: F401  # before the fork: else every job that sends a push imports it, for 0.1 to 0.3 s

    from app.core.jobs import worker

    config = Config.from_env()
    app = create_app(config)

for line in warnings(config, environment()):
    logging.getLogger(__name__).warning("%s", line)

#: Where `rq`'s command line looks; the worker itself connects by `app.core.jobs.redis`.
REDIS_URL = config.redis_url
#: Without a queue on the command line one process serves both, the urgent one first.
QUEUES = list(worker.QUEUES)


class Job(worker.Job):
    """A job of this application."""

    app = app


class Worker(worker.Worker):
    """A worker of this application, with its own clock."""

    app = app
    job_class = Job
