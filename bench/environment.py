"""Environment of a benchmark: servers, a migrated and seeded database, gunicorn, and a table of results."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import psutil
import psycopg2
import sqlalchemy as sa
from flask import Flask, has_app_context
from flask_migrate import upgrade

from app import create_app
from app.cli import seed_all
from app.core.database.session import db, unit_of_work
from app.identity import sessions, users
from app.identity.models import Role
from bench import wrk
from bench.wrk import Target
from config import Config
from dev.stack.processes import PROGRAMS, Stack
from dev.testing import DATABASE_VARIABLE, REDIS_VARIABLE, temporary_servers

#: Paths of a route that runs only one SELECT. Each of the 100 paths reads another row by its primary key.
F1 = Target([f"/floor/select/{n}" for n in range(1, 101)])


@dataclass(frozen=True)
class Result:
    name: str
    target: str
    reached: str
    holds: bool


def at_least(name: str, ratio: float, target: float, unit: str) -> Result:
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


def median_seconds(work: Callable[[], object], calls: int) -> float:
    """Return the median seconds of a call. The first call is not counted."""
    spent = []
    for _ in range(1 + calls):
        started = time.perf_counter()
        work()
        spent.append(time.perf_counter() - started)
        if has_app_context():
            db.session.remove()
    return median(spent[1:])


def primary_key_selects(work: Callable[[], object], calls: int) -> float:
    """Return the time of a call as a number of primary-key selects: the median of five rounds."""
    by_key = sa.select(Role.id, Role.name).where(Role.id == 1)
    rounds = range(5)
    return median(
        median_seconds(work, calls) / median_seconds(lambda: db.session.execute(by_key).one(), calls) for _ in rounds
    )


class BenchStack(Stack):
    """Processes as in production: workers, or gunicorn with the service and the routes for comparison."""

    def __init__(self, env: dict[str, str], folder: Path, workers: int) -> None:
        super().__init__({"WEB_CONCURRENCY": str(psutil.cpu_count()), **env}, folder)
        self.workers = workers

    def start(self) -> None:
        for _ in range(self.workers):
            self.start_worker("urgent")
        if not self.workers:
            self.spawn(str(PROGRAMS / "gunicorn"), "-c", "gunicorn.conf.py", "bench.wsgi:app")

    def is_ready(self) -> bool:
        return self.workers > 0 or super().is_ready()


class BenchEnvironment:
    def __init__(self, env: dict[str, str], *, short: bool = False, most: int = 0) -> None:
        self.env = env
        #: True if the outages last for seconds instead of minutes, only to check that the benchmark works.
        self.short = short
        #: Maximum number of rows of a table in the benchmark of growth.
        self.most = most
        self.app: Flask = create_app(Config.from_env(env))

    @contextlib.contextmanager
    def database(self) -> Iterator[Any]:
        """Yield a cursor of an own connection in autocommit mode."""
        with (
            contextlib.closing(psycopg2.connect(self.env["DATABASE_URL"])) as connection,
            connection.cursor() as cursor,
        ):
            connection.autocommit = True
            yield cursor

    def fill(self, statements: str, values: Sequence[object] | None = None) -> None:
        """Run SQL statements that insert rows, and prepare the tables for queries as autovacuum would."""
        with self.database() as cursor:
            cursor.execute(statements, values)
            cursor.execute("VACUUM ANALYZE")

    def people(self, count: int, role: str = "pasien") -> list[str]:
        """Create `count` people with a role, and return their access tokens."""
        with self.app.app_context(), unit_of_work():
            people = [
                users.create(
                    {"username": f"bench.{n}", "password": "rahasia123", "nama_ktp": f"Orang {n}", "nama_samaran": "S"},
                    [role],
                )
                for n in range(count)
            ]
            return [sessions.begin(user).access_token for user in people]

    @contextlib.contextmanager
    def running(self, workers: int = 0, settings: Mapping[str, str] | None = None) -> Iterator[str]:
        """Run gunicorn and yield its base URL. With `workers`, run only this number of workers."""
        with (
            tempfile.TemporaryDirectory() as folder,
            BenchStack({**self.env, **(settings or {})}, Path(folder), workers) as stack,
        ):
            yield stack.url.removesuffix("/api")

    def compare(
        self, targets: Mapping[str, tuple[float, Target]], settings: Mapping[str, str] | None = None
    ) -> Iterator[Result]:
        """Measure targets and, in the same rounds, the floor F1. The number of each is the smallest share of F1."""
        with self.running(settings=settings) as url:
            rates = wrk.rates(url, {"F1": F1, **{name: target for name, (_, target) in targets.items()}})
        for name, (share, _) in targets.items():
            yield at_least(name, rates[name] / rates["F1"], share, "F1")


@contextlib.contextmanager
def environment(
    settings: Mapping[str, str] | None = None, *, short: bool = False, most: int = 0
) -> Iterator[BenchEnvironment]:
    """Yield the environment of one benchmark.

    PostgreSQL's buffers get a quarter of the memory, as its manual recommends. With the default of 128 MB, some
    benchmarks would measure reads from the operating system's cache.
    """
    buffers = f"{psutil.virtual_memory().total // 2**22}MB"
    with temporary_servers(shared_buffers=buffers) as servers, tempfile.TemporaryDirectory() as media:
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
