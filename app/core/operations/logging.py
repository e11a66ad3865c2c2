"""Logs: one JSON object a line on standard error, each with the request or job that it belongs to."""

from __future__ import annotations

import atexit
import logging
import sys
from logging.handlers import MemoryHandler
from threading import Thread
from time import sleep
from typing import TextIO

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


#: Seconds that a line may wait for others.
FLUSH_EVERY_S = 0.1
MAX_BUFFERED = 1000


class BatchHandler(MemoryHandler):
    """Hands lines on in one piece ten times a second, and at once when one is a warning.

    A write gives up the interpreter: the request that makes it waits for all other threads, which under load costs more
    than everything else around its view.
    """

    def __init__(self, target: logging.StreamHandler[TextIO]) -> None:
        super().__init__(MAX_BUFFERED, logging.WARNING, target)
        self.filters = target.filters  # what a line belongs to is known where it is made
        self._stream, self._format = target.stream, target.format
        atexit.register(self.flush)
        Thread(target=self._keep_flushing, name="log", daemon=True).start()

    def flush(self) -> None:
        self.acquire()
        try:
            records, self.buffer = self.buffer, []
        finally:
            self.release()
        if not records:
            return
        try:
            self._stream.write("".join(f"{self._format(record)}\n" for record in records))
            self._stream.flush()
        except Exception:  # noqa: BLE001  # as every handler: nobody's request fails because a disk is full
            self.handleError(records[-1])

    def _keep_flushing(self) -> None:
        while True:
            sleep(FLUSH_EVERY_S)
            self.flush()


def batch_lines() -> None:
    """For a process that answers requests: lines go out in pieces. A crash may cost the last tenth of a second."""
    root = logging.getLogger()
    root.handlers[:] = [
        BatchHandler(handler) for handler in root.handlers if isinstance(handler, logging.StreamHandler)
    ]


#: The least severe lines of libraries that are written; nobody else sets levels. Below that they carry addresses,
#: tokens or nothing new. urllib3's warnings quote whole addresses, and some of those hold a provider's key.
LIBRARIES = {
    "urllib3": logging.ERROR,
    **dict.fromkeys(("botocore", "boto3", "fontTools", "fpdf", "PIL", "alembic"), logging.WARNING),
}


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
    for name, level in LIBRARIES.items():
        logging.getLogger(name).setLevel(level)
