"""Real gunicorn and `rq worker` processes for tests and benchmarks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

import requests

from config import ROOT
from dev.servers import free_port
from dev.stack.waiting import PATIENCE_S

PROGRAMS = Path(sys.executable).parent


class Stack:
    """The running service, with gunicorn and workers. Use `with Stack(env, folder) as stack:` to start and end it."""

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
            self._wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _wait(self) -> None:
        stop = time.monotonic() + PATIENCE_S
        while time.monotonic() < stop:
            try:
                if self.is_ready():
                    return
            except requests.RequestException:
                pass
            assert all(process.poll() is None for process in self.processes), self.log.read_text()
            time.sleep(0.1)
        raise AssertionError(self.log.read_text())

    def __exit__(self, *_: object) -> None:
        # End the processes in reverse order, because a worker removes its registration from Redis when it ends.
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE_S)

    def is_ready(self) -> bool:
        return requests.get(f"http://127.0.0.1:{self.port}/readyz", timeout=10).status_code == 200

    # In the methods below, `code` is the folder with the service's code. The folder may contain another version of the
    # service.

    def start_web(self, *, code: Path = ROOT, **settings: str) -> subprocess.Popen[bytes]:
        return self.spawn(str(PROGRAMS / "gunicorn"), "-c", "gunicorn.conf.py", "wsgi:app", code=code, **settings)

    def start_worker(self, *queues: str, code: Path = ROOT) -> subprocess.Popen[bytes]:
        return self.spawn(str(PROGRAMS / "rq"), "worker", "-c", "worker", "-w", "worker.Worker", *queues, code=code)

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
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        # Headers that the existing front end sends.
        headers |= {"Cache-Control": "no-cache", "Pragma": "no-cache", "Expires": "0"}
        return requests.request(method, self.url + path, headers=headers, timeout=PATIENCE_S, **options)


class WebOnly(Stack):
    """The service without workers: only gunicorn."""

    def start(self) -> None:
        self.start_web()
