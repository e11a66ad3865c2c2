"""Logs: one JSON object a line on standard error, each with the request or job that it belongs to."""

from __future__ import annotations

import logging
import sys

from flask import g, has_app_context
from pythonjsonlogger.orjson import OrjsonFormatter

from config import Config


class ContextFilter(logging.Filter):
    """Adds the request's or the job's id to every record."""

    def filter(self, record: logging.LogRecord) -> bool:
        if has_app_context():
            record.request_id = g.get("request_id")
            if job := g.get("job_id"):
                record.job_id = job
        return True


def configure(config: Config) -> None:
    """Send all loggers of the process to one JSON handler."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        OrjsonFormatter(
            "{asctime}{levelname}{name}{message}",
            style="{",
            rename_fields={"asctime": "time", "levelname": "level", "name": "logger"},
            datefmt="%Y-%m-%dT%H:%M:%S%z",
        )
    )
    handler.addFilter(ContextFilter())
    # No line shows them; each costs every record.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(config.log_level)
    # Their lines carry addresses, tokens or nothing new.
    for name in (
        "urllib3",
        "botocore",
        "boto3",
        "fontTools",
        "fpdf",
        "PIL",
        "flask-limiter",
        "alembic",
    ):
        logging.getLogger(name).setLevel(logging.WARNING)
