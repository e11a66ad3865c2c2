"""Environment of a benchmark: servers, a migrated and seeded database, gunicorn, and a table of results."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil
import requests
from flask import Flask
from flask_migrate import upgrade

from app import create_app
from app.cli import seed_all
from app.core.database.session import unit_of_work
from app.identity import sessions, users
from bench import wrk
from bench.wrk import Target
from config import ROOT, Config
from dev.testing import DATABASE_VARIABLE, REDIS_VARIABLE, temporary_servers

HELLO = Target(["/floor/hello"])
#: Paths of a route that runs only one SELECT. Each of the 100 paths reads another row by its primary key.
SELECT = Target([f"/floor/select/{n}" for n in range(1, 101)])


@dataclass(frozen=True)
class Result:
    name: str
    target: str
    reached: str
    holds: bool


def at_least(name: str, ratio: float, target: float, unit: str = "F1") -> Result:
    return Result(name, f"at least {target:g} {unit}", f"{_figure(ratio)} {unit}", ratio >= target)


def at_most(name: str, value: float, target: float, unit: str) -> Result:
    return Result(name, f"at most {target:g} {unit}", f"{_figure(value)} {unit}", value <= target)


def _figure(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"


def print_table(results: Iterable[Result]) -> None:
    rows = [
        ("benchmark", "target", "result", ""),
        *((r.name, r.target, r.reached, "" if r.holds else "SHORT") for r in results),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


class BenchEnvironment:
    def __init__(self, env: dict[str, str], *, short: bool = False, most: int | None = None) -> None:
        self.env = env
        #: True if the benchmark runs for seconds instead of minutes, only to check that the benchmark works.
        self.short = short
        #: Maximum number of rows of a table. None means no limit.
        self.most = most
        self.app: Flask = create_app(Config.from_env(env))

    @property
    def database_url(self) -> str:
        """Return the database URL for psycopg2. Benchmarks use the URL to fill tables inside PostgreSQL."""
        return self.env["DATABASE_URL"]

    def people(self, count: int) -> list[str]:
        """Create `count` people, and return their access tokens."""
        with self.app.app_context(), unit_of_work():
            people = [
                users.create(
                    {"username": f"bench.{n}", "password": "rahasia123", "nama_ktp": f"Orang {n}", "nama_samaran": "S"},
                    ["pasien"],
                )
                for n in range(count)
            ]
            return [sessions.begin(user).access_token for user in people]

    @contextlib.contextmanager
    def serving(self, **settings: str) -> Iterator[str]:
        """Run gunicorn as in production, with the service and the routes for comparison. Yield the base URL."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        env = {**os.environ, **self.env, "PORT": str(port), **settings}
        program = [str(Path(sys.executable).with_name("gunicorn")), "-c", "gunicorn.conf.py", "bench.wsgi:app"]
        url = f"http://127.0.0.1:{port}"
        with tempfile.TemporaryFile() as log:
            gunicorn = subprocess.Popen(program, cwd=ROOT, env=env, stdout=log, stderr=log)
            try:
                _wait_for(url, gunicorn)
                yield url
            finally:
                gunicorn.terminate()
                gunicorn.wait(30)

    def compare(self, targets: Mapping[str, Target], **settings: str) -> dict[str, float]:
        """Measure the targets. In the same run, measure two routes for comparison: `hello_floor` and `select_floor`.

        Return the requests per second of each target and of these two routes.
        """
        with self.serving(**settings) as url:
            return wrk.rates(url, {"hello_floor": HELLO, "select_floor": SELECT, **targets})


@contextlib.contextmanager
def environment(
    settings: Mapping[str, str] | None = None,
    *,
    short: bool = False,
    most: int | None = None,
    memory: float | None = None,
) -> Iterator[BenchEnvironment]:
    """Yield the environment of one benchmark.

    `memory` is the share of the machine's memory for PostgreSQL's buffers, from 0 to 1.
    """
    buffers = {"shared_buffers": f"{psutil.virtual_memory().total * memory / 2**20:.0f}MB"} if memory else {}
    with temporary_servers(**buffers) as servers, tempfile.TemporaryDirectory() as media:
        env = {
            "ENVIRONMENT": "testing",
            "RATE_LIMITS": "off",
            "DATABASE_URL": servers[DATABASE_VARIABLE],
            "REDIS_URL": servers[REDIS_VARIABLE],
            "MEDIA_ROOT": media,
            **(settings or {}),
        }
        bench = BenchEnvironment(env, short=short, most=most)
        with bench.app.app_context():
            upgrade()
            seed_all()
        yield bench


def _wait_for(url: str, gunicorn: subprocess.Popen[bytes]) -> None:
    stop = time.monotonic() + 60
    while time.monotonic() < stop and gunicorn.poll() is None:
        with contextlib.suppress(requests.RequestException):
            if requests.get(f"{url}/floor/hello", timeout=2).ok:
                return
        time.sleep(0.2)
    raise SystemExit("gunicorn did not start")
