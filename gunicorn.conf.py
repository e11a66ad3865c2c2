"""How gunicorn serves it, in development and in production: `gunicorn -c gunicorn.conf.py wsgi:app`.

Beside the settings of `config.py` it reads BIND (an address of its own, as in `unix:/run/health/web.sock`),
WEB_CONCURRENCY (number of processes), MAX_REQUESTS and PROMETHEUS_MULTIPROC_DIR.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

from gunicorn.glogging import Logger

from config import INSTANCE, Config, ConfigError, environment, warnings

env = environment()
try:
    settings = Config.from_env(env)  # gunicorn would take a `config` for a setting of its own
except ConfigError as error:
    sys.exit(str(error))

# --- where --------------------------------------------------------------------------------------------------

address = "127.0.0.1" if settings.is_development else "0.0.0.0"  # noqa: S104 - a proxy stands in front
bind = env.get("BIND") or f"{address}:{settings.port}"
on_unix_socket = bind.startswith("unix:")

# With one socket for all, one process can end up holding all kept-alive connections. Behind a unix socket
# the proxy spreads them.
reuse_port = not on_unix_socket

# --- how many -----------------------------------------------------------------------------------------------

worker_class = "gthread"
cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
workers = int(env.get("WEB_CONCURRENCY") or cores or 1)
threads = 8
worker_connections = 1000
backlog = 2048

# Each process imports the application itself: none shares a connection with another, and a reload (HUP)
# brings new code.
preload_app = False

# A process that makes room for a fresh one drops the connections that still wait at a socket of its own. So
# the remedy against leaks is on by default only where the socket is shared. It comes seldom: where a gunicorn
# has one process alone, its callers wait some two seconds for the next, and logins that pile up are refused.
max_requests = int(env.get("MAX_REQUESTS") or (1_000_000 if on_unix_socket else 0))
max_requests_jitter = max_requests // 10

# --- how long, how much -------------------------------------------------------------------------------------

timeout = 60  # of a process that hangs, not of a request: exports may stream for longer
graceful_timeout = 3 if settings.is_development else 30
keepalive = 75  # longer than nginx keeps its upstream connections, so that nginx is the one who closes
limit_request_line = 8190
limit_request_fields = 64
limit_request_field_size = 8190

# --- whom to believe ----------------------------------------------------------------------------------------

# What proxies say about the caller is decided in one place, by TRUSTED_PROXIES.
forwarded_allow_ips = ""
secure_scheme_headers: dict[str, str] = {}
forwarder_headers = ""
control_socket_disable = True  # its default path is the same for every gunicorn of a user

# --- logs and metrics ---------------------------------------------------------------------------------------

accesslog = None  # the application writes one line a request


class ErrorLogger(Logger):
    """gunicorn's logger without its access log, whose line it builds for nobody as soon as there is `logconfig_dict`.

    That is a tenth of a prepared read.
    """

    def access(self, *_: object) -> None:
        """The application has written its line."""


logger_class = ErrorLogger
logconfig_dict = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "json": {
            "()": "pythonjsonlogger.json.JsonFormatter",
            "fmt": "{asctime}{levelname}{name}{message}",
            "style": "{",
            "rename_fields": {"asctime": "time", "levelname": "level", "name": "logger"},
            "datefmt": "%Y-%m-%dT%H:%M:%S%z",
        }
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
    "root": {"level": settings.log_level, "handlers": ["stderr"]},
    "loggers": {"gunicorn.error": {"level": settings.log_level, "handlers": ["stderr"], "propagate": False}},
}

# prometheus_client reads this variable itself, when a worker process imports it.
metrics = Path(env.get("PROMETHEUS_MULTIPROC_DIR") or INSTANCE / "metrics" / re.sub(r"\W+", "-", bind))
raw_env = [f"PROMETHEUS_MULTIPROC_DIR={metrics}"]


def on_starting(server: Any) -> None:
    """Warn of risky settings. Delete the figures of the last run's processes, which are no longer true."""
    for line in warnings(settings, env):
        server.log.warning("%s", line)
    metrics.mkdir(parents=True, exist_ok=True)
    for file in metrics.glob("*.db"):
        file.unlink()


def post_fork(_server: Any, _worker: Any) -> None:
    """A process that a reload starts reads `config.py` as it is now, not as the master once imported it."""
    sys.modules.pop("config", None)


def child_exit(_server: Any, worker: Any) -> None:
    """Take a dead process out of the figures that only the living count in."""
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(worker.pid, str(metrics))


def post_worker_init(_worker: Any) -> None:
    from app.core.operations.logging import batch_lines
    from app.core.operations.startup import log_start
    from app.providers import gazetteer

    batch_lines()
    log_start("web")
    gazetteer.shared()
