"""Configuration for `rq worker -c worker -w worker.Worker`: Redis, the queues and the worker class of this service."""

from __future__ import annotations

import logging
import os
import sys

from app import create_app
from app.core.operations.startup import loading, log_start
from config import Config, ConfigError, environment, warnings

# Jobs add their metrics to Redis. Without this line, each job would leave a file in gunicorn's metrics folder.
os.environ.pop("PROMETHEUS_MULTIPROC_DIR", None)  # noqa: TID251  # prometheus-client reads it

with loading():
    import pywebpush  # noqa: F401  # before the fork: otherwise each push job needs 0.1 to 0.3 s for the import

    from app.core.jobs import worker

    try:
        config = Config.from_env()
    except ConfigError as error:
        sys.exit(str(error))
    app = create_app(config)

for line in warnings(config, environment()):
    logging.getLogger(__name__).warning("%s", line)
log_start("worker")

#: RQ's command line reads this setting. The worker itself connects to Redis with `app.core.jobs.redis`.
REDIS_URL = config.redis_url
#: Default queues. One process works on both queues, the urgent one first.
QUEUES = list(worker.QUEUES)


class Job(worker.Job):
    """A job that runs in this application."""

    app = app


class Worker(worker.Worker):
    """A worker of this application. It starts its own scheduler process."""

    app = app
    job_class = Job
