"""Logs: one JSON object per line on standard error, with the id of the request or job."""

from __future__ import annotations

import logging
import sys

from flask import g, has_app_context
from pythonjsonlogger.orjson import OrjsonFormatter


class ContextFilter(logging.Filter):
    """A filter that adds the id of the request or job to each record."""

    def filter(self, record: logging.LogRecord) -> bool:
        if has_app_context():
            record.request_id = g.get("request_id")
            if job := g.get("job_id"):
                record.job_id = job
        return True


#: Minimum log levels of libraries. Lower levels would log addresses, tokens or useless lines. urllib3's warnings
#: contain full addresses, some with the key of a provider.
LIBRARIES = {
    "urllib3": logging.ERROR,
    **dict.fromkeys(("botocore", "boto3", "fontTools", "fpdf", "PIL", "alembic"), logging.WARNING),
}


def configure() -> None:
    """Send the records of all loggers to one handler that writes JSON."""
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
    # Do not collect unused fields, because they cost time for each record.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    for name, level in LIBRARIES.items():
        logging.getLogger(name).setLevel(level)
