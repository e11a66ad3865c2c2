"""Servers that tests and benchmarks can stop or freeze, and clients that record the responses of the service."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from statistics import median
from typing import Any

import psutil
import psycopg2

from dev.servers import Postgres, Valkey, start_postgres, start_valkey, valkey_server
from dev.stack.processes import Stack
from dev.stack.waiting import wait_until
from dev.supervisor import Supervisor


@dataclass
class Answers:
    """Responses to one kind of request, oldest first. Each response has a start time, a duration and a status.

    The duration is in seconds.
    """

    seen: list[tuple[float, float, int]] = field(default_factory=list)
    retry_after: set[str | None] = field(default_factory=set)

    def during(self, start: float, end: float) -> list[tuple[float, float, int]]:
        return [one for one in self.seen if start <= one[0] < end]

    def within(self, start: float, end: float = inf) -> list[tuple[float, float, int]]:
        """Return the requests that started after `start` and were answered before `end`."""
        return [(at, took, status) for at, took, status in list(self.seen) if start <= at and at + took < end]

    def statuses(self, start: float, end: float = inf) -> set[int]:
        return {status for _, _, status in self.within(start, end)}

    def first(self, status: int, since: float) -> float:
        return min(at for at, _, got in self.within(since) if got == status)

    def median_s(self, start: float, end: float = inf) -> float:
        return median(took for _, took, _ in self.within(start, end))

    def p99_s(self, start: float, end: float) -> float:
        seconds = sorted(took for _, took, _ in self.during(start, end))
        return seconds[max(0, int(len(seconds) * 0.99) - 1)]

    def back_s(self, since: float) -> float:
        """Return the seconds from `since` until the last 503 response."""
        return max([0.0, *(at + took - since for at, took, status in self.seen if status == 503)])

    @property
    def accepted(self) -> int:
        return sum(200 <= status < 300 for _, _, status in self.seen)


#: A request: method, path, and keyword arguments for `requests`.
Request = tuple[str, str, Mapping[str, Any]]

READ: Request = ("GET", "/kategori", {})
LOG: Request = ("POST", "/log/user-log", {"json": {"a": 1}})


class Load:
    """Context manager with one client for each kind of request.

    During the block, each client repeats its request and records the responses.
    """

    def __init__(self, stack: Stack, kinds: Mapping[str, Request], *, pause_s: float = 0.02) -> None:
        self.stack, self.pause_s = stack, pause_s
        self.answers = {name: Answers() for name in kinds}
        self._done = threading.Event()
        self._threads = [
            threading.Thread(target=self._ask, args=(self.answers[name], *request)) for name, request in kinds.items()
        ]

    def _ask(self, answers: Answers, method: str, path: str, options: Mapping[str, Any]) -> None:
        while not self._done.is_set():
            asked = time.monotonic()
            response = self.stack.call(method, path, **options)
            answers.seen.append((asked, time.monotonic() - asked, response.status_code))
            if response.status_code == 503:
                answers.retry_after.add(response.headers.get("Retry-After"))
            time.sleep(self.pause_s)

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        wait_until(lambda: all(answers.seen for answers in self.answers.values()))
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        for thread in self._threads:
            thread.join()


@dataclass
class IsolatedStack:
    """A `Stack` with its own servers. Tests and benchmarks stop or freeze these servers."""

    supervisor: Supervisor
    folder: Path
    durable: bool
    postgres: Postgres
    valkey: Valkey
    stack: Stack

    @classmethod
    @contextlib.contextmanager
    def opened(
        cls, folder: Path, kind: type[Stack] = Stack, *, durable: bool = False, **settings: str
    ) -> Iterator[IsolatedStack]:
        # If the user is root, PostgreSQL runs as nobody, who must be able to enter the folder.
        folder.chmod(0o711)
        with Supervisor(folder / "logs") as supervisor:
            postgres = start_postgres(supervisor, folder / "postgres", durable=durable)
            valkey = start_valkey(supervisor, folder / "valkey")
            env = {"DATABASE_URL": postgres.url(), "REDIS_URL": valkey.url, "RATE_LIMITS": "off", **settings}
            stack = kind(env, folder)
            stack.flask("db", "upgrade")
            stack.flask("seed")
            with stack:
                yield cls(supervisor, folder, durable, postgres, valkey, stack)

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a query on a new connection, independent of the service's connections."""
        with contextlib.closing(psycopg2.connect(self.postgres.url())) as connection, connection.cursor() as cursor:
            cursor.execute(query, values or None)  # without values, a percent sign in the query is a plain character
            return cursor.fetchall()

    def count(self, query: str, *values: object) -> int:
        ((count,),) = self.rows(query, *values)
        return int(count)

    def logged(self) -> int:
        return self.count("SELECT count(*) FROM activity_logs")

    @contextlib.contextmanager
    def without(self, server: str, how: str) -> Iterator[None]:
        """Stop, kill or freeze a server during the block.

        `server` is "postgres" or "redis". `how` is "stopped", "killed" or "frozen". Redis restarts from its append-only
        file.
        """
        child = (self.postgres if server == "postgres" else self.valkey).child
        if how == "frozen":
            with frozen(child.process.pid):
                yield
            return
        child.process.send_signal(signal.SIGKILL if how == "killed" else child.stop_with)
        child.process.wait()
        self.supervisor.children.remove(child)
        yield
        if server == "postgres":
            self.postgres = start_postgres(self.supervisor, self.folder / "postgres", durable=self.durable)
        else:
            child = self.supervisor.spawn("valkey", [valkey_server(), "valkey.conf"], cwd=self.folder / "valkey")
            self.valkey = Valkey(child, self.valkey.url)


@contextlib.contextmanager
def frozen(pid: int) -> Iterator[None]:
    """Suspend a process and its descendants during the block. Their connections stay open."""
    leader = psutil.Process(pid)
    leader.suspend()  # stop the leader first, so that it cannot fork
    processes = [leader, *leader.children(recursive=True)]
    try:
        for process in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.suspend()
        yield
    finally:
        for process in reversed(processes):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.resume()
