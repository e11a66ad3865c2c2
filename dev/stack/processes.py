"""Real gunicorn and `rq worker` processes for tests and benchmarks."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

import requests

from config import ROOT
from dev.servers import free_port
from dev.stack.waiting import PATIENCE_S, eventually

PROGRAMS = Path(sys.executable).parent


class Stack:
    """The running service, with gunicorn and workers. Use `with Stack(env, folder) as stack:` to start and end it."""

    #: Class of the workers, for `rq worker -w`.
    worker = "worker.Worker"

    def __init__(self, env: dict[str, str], folder: Path) -> None:
        self.port = free_port()
        metrics = folder / "metrics"
        metrics.mkdir()
        self.env = {
            **os.environ,
            "ENVIRONMENT": "testing",
            "MEDIA_ROOT": str(folder / "media"),
            "PORT": str(self.port),
            "BIND": f"127.0.0.1:{self.port}",
            "WEB_CONCURRENCY": "1",
            "PROMETHEUS_MULTIPROC_DIR": str(metrics),
            **env,
        }
        self.log = folder / "stack.log"
        #: Client of `call`. The module `requests` opens a new connection for each request.
        self.session: Any = requests
        self.processes: list[subprocess.Popen[bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api"

    def start(self) -> None:
        """Start the processes. Subclasses override this."""
        self.start_web()
        self.start_worker()

    def __enter__(self) -> Self:
        self.start()
        try:
            assert eventually(self._runs), self.log.read_text()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _runs(self) -> bool:
        assert all(process.poll() is None for process in self.processes), self.log.read_text()
        with contextlib.suppress(requests.RequestException):
            return self.is_ready()
        return False

    def __exit__(self, *_: object) -> None:
        # End the processes in reverse order, because a worker removes its registration from Redis when it ends.
        for process in reversed(list(self.processes)):
            self.end(process)

    def is_ready(self) -> bool:
        url = self.url.removesuffix("/api")
        return bool(self.session.get(f"{url}/readyz", timeout=10).status_code == 200)

    # In the methods below, `code` is the folder with the service's code. The folder may contain another version of the
    # service.

    def start_web(self, *, code: Path = ROOT, **settings: str) -> subprocess.Popen[bytes]:
        return self.spawn(str(PROGRAMS / "gunicorn"), "-c", "gunicorn.conf.py", "wsgi:app", code=code, **settings)

    def start_worker(self, *queues: str, code: Path = ROOT) -> subprocess.Popen[bytes]:
        return self.spawn(str(PROGRAMS / "rq"), "worker", "-c", "worker", "-w", self.worker, *queues, code=code)

    def flask(self, *words: str, code: Path = ROOT) -> str:
        command = [sys.executable, "-m", "flask", *words]
        done = subprocess.run(command, cwd=code, env=self.env, check=True, capture_output=True, text=True)
        return done.stdout

    def spawn(self, *command: str, code: Path = ROOT, **settings: str) -> subprocess.Popen[bytes]:
        env = {**self.env, **settings}
        with self.log.open("ab") as log:
            process = subprocess.Popen(command, cwd=code, env=env, stdout=log, stderr=log, start_new_session=True)
        self.processes.append(process)
        return process

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """Send SIGTERM to a process and wait for its end, as systemd does."""
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)
        self.processes.remove(process)

    def call(self, method: str, path: str, token: str | None = None, **options: Any) -> requests.Response:
        headers = {**({"Authorization": f"Bearer {token}"} if token else {}), **options.pop("headers", {})}
        response: requests.Response = self.session.request(
            method, self.url + path, headers=headers, timeout=PATIENCE_S, **options
        )
        return response


class WebOnly(Stack):
    """The service without workers: only gunicorn."""

    def start(self) -> None:
        self.start_web()
