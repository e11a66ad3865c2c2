"""Logs: one JSON object per line on standard error, with the id of the request or job."""

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
    """A filter that adds the id of the request or job to each record."""

    def filter(self, record: logging.LogRecord) -> bool:
        if has_app_context():
            record.request_id = g.get("request_id")
            if job := g.get("job_id"):
                record.job_id = job
        return True


#: Maximum seconds that a log line stays in the buffer.
FLUSH_EVERY_S = 0.1
MAX_BUFFERED = 1000


class BatchHandler(MemoryHandler):
    """A log handler that writes buffered lines ten times a second, and immediately after a warning.

    A write releases Python's global lock (GIL). To get the lock back, the request then waits for other threads. Under
    load this wait took longer than all other work of the request, apart from the view function.
    """

    def __init__(self, target: logging.StreamHandler[TextIO]) -> None:
        super().__init__(MAX_BUFFERED, logging.WARNING, target)
        # run the filters before the buffering, because they need the context of the request or job
        self.filters = target.filters
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
        except Exception:  # noqa: BLE001  # a full disk must not fail a request
            self.handleError(records[-1])

    def _keep_flushing(self) -> None:
        while True:
            sleep(FLUSH_EVERY_S)
            self.flush()


def batch_lines() -> None:
    """Buffer the log lines of a web process. After a crash, the lines of the last 0.1 s may be missing."""
    root = logging.getLogger()
    root.handlers[:] = [
        BatchHandler(handler) for handler in root.handlers if isinstance(handler, logging.StreamHandler)
    ]


#: Minimum log levels of libraries. Lower levels would log addresses, tokens or useless lines. urllib3's warnings
#: contain full addresses, some with the key of a provider.
LIBRARIES = {
    "urllib3": logging.ERROR,
    **dict.fromkeys(("botocore", "boto3", "fontTools", "fpdf", "PIL", "alembic"), logging.WARNING),
}


def configure(config: Config) -> None:
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
    root.setLevel(config.log_level)
    for name, level in LIBRARIES.items():
        logging.getLogger(name).setLevel(level)
