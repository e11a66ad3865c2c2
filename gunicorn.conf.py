"""Configuration of gunicorn in development and production: `gunicorn -c gunicorn.conf.py wsgi:app`.

In addition to the settings of `config.py`, this file reads the environment variables BIND (socket address, for example
`unix:/run/health/web.sock`) or PORT, WEB_CONCURRENCY (number of processes), MAX_REQUESTS and PROMETHEUS_MULTIPROC_DIR.
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
settings, problems = Config.read(env)  # not named `config`, because gunicorn has a setting of this name
numbers = {name: env[name] for name in ("PORT", "WEB_CONCURRENCY", "MAX_REQUESTS") if name in env}
problems += [f"{name} must be a whole number" for name, text in numbers.items() if not re.fullmatch("[0-9]{1,7}", text)]
if problems:
    sys.exit(str(ConfigError(problems)))

# --- address ------------------------------------------------------------------------------------------------

address = "127.0.0.1" if settings.is_development else "0.0.0.0"  # noqa: S104 - behind a proxy
bind = env.get("BIND") or f"{address}:{numbers.get('PORT', 8000)}"
on_unix_socket = bind.startswith("unix:")

# On TCP, each process has its own socket. With a shared socket, one process could get all persistent connections. Unix
# sockets are shared, because there the proxy distributes the requests over several gunicorns.
reuse_port = not on_unix_socket

# --- processes and threads ----------------------------------------------------------------------------------

worker_class = "gthread"
cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
workers = int(numbers.get("WEB_CONCURRENCY") or cores or 1)
threads = 8
worker_connections = 1000
backlog = 2048

# Each process imports the application itself. Processes then share no connections, and a reload (HUP) loads new code.
preload_app = False

# Number of requests after which a process is replaced, as a protection against memory leaks. The default for TCP is 0
# (never), because connections that wait at the socket of the old process would be lost. The default for Unix sockets is
# high, so that replacements are rare. While a gunicorn replaces its only process, it serves no requests for about two
# seconds. Waiting logins are then refused.
max_requests = int(numbers.get("MAX_REQUESTS") or (1_000_000 if on_unix_socket else 0))
max_requests_jitter = max_requests // 10

# --- timeouts and limits ------------------------------------------------------------------------------------

timeout = 60  # seconds after which a hanging process is killed; a request may last longer, for example an export
graceful_timeout = 3 if settings.is_development else 30
keepalive = 75  # longer than nginx's `keepalive_timeout` for upstreams (60 s), so that nginx closes first
limit_request_line = 8190
limit_request_fields = 64
limit_request_field_size = 8190

# --- trusted proxies ----------------------------------------------------------------------------------------

# Ignore all forwarding headers here. The application reads them according to TRUSTED_PROXIES.
forwarded_allow_ips = ""
secure_scheme_headers: dict[str, str] = {}
forwarder_headers = ""
control_socket_disable = True  # otherwise all gunicorns of a system user would use the same socket path

# --- logs and metrics ---------------------------------------------------------------------------------------

accesslog = None  # the application writes one log line per request


class ErrorLogger(Logger):
    """gunicorn's logger without access log lines.

    Without this class, gunicorn would build each access log line because of `logconfig_dict`, although no handler
    writes the line. Building the lines took up to a fifth of the time of a list request.
    """

    def access(self, *_: object) -> None:
        """Write nothing, because the application writes its own line."""


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
    "root": {"level": "INFO", "handlers": ["stderr"]},
    "loggers": {"gunicorn.error": {"level": "INFO", "handlers": ["stderr"], "propagate": False}},
}

# The metrics of each process are files in this folder. prometheus_client reads the variable when it is imported.
metrics = Path(env.get("PROMETHEUS_MULTIPROC_DIR") or INSTANCE / "metrics" / re.sub(r"\W+", "-", bind))
raw_env = [f"PROMETHEUS_MULTIPROC_DIR={metrics}"]


def on_starting(server: Any) -> None:
    """Log warnings about risky settings. Delete the metrics files of the previous run."""
    for line in warnings(settings, env):
        server.log.warning("%s", line)
    metrics.mkdir(parents=True, exist_ok=True)
    for file in metrics.glob("*.db"):
        file.unlink()


def post_fork(_server: Any, _worker: Any) -> None:
    """Make the new process import `config.py` again, because the master process may have imported an older version."""
    sys.modules.pop("config", None)


def child_exit(_server: Any, worker: Any) -> None:
    """Remove a dead process from metrics that count only live processes."""
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(worker.pid, str(metrics))


def post_worker_init(_worker: Any) -> None:
    from app.core.operations.startup import log_start
    from app.providers import geocoding

    log_start("web")
    geocoding.gazetteer()
