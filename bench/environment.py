"""Environment of a benchmark: servers, a migrated and seeded database, gunicorn, and a table of results."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import psutil
import psycopg2
import requests
from flask import Flask, has_app_context
from flask_migrate import upgrade

from app import create_app
from app.cli import seed_all
from app.core.database.session import db, unit_of_work
from app.identity import sessions, users
from bench import wrk
from bench.wrk import Target
from config import ROOT, Config
from dev.servers import free_port
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


#: Query that returns statements to drop and create each constraint and index. It is faster to create an index after
#: all rows than to update the index for every row.
SCAFFOLD = """
SELECT format('ALTER TABLE %%s DROP CONSTRAINT %%I', conrelid::regclass, conname),
       format('ALTER TABLE %%s ADD CONSTRAINT %%I %%s', conrelid::regclass, conname, pg_get_constraintdef(oid))
FROM pg_constraint WHERE contype IN ('u', 'f') AND conrelid::regclass::text = ANY(%(tables)s)
UNION ALL
SELECT format('DROP INDEX %%I', indexname), indexdef FROM pg_indexes
WHERE tablename = ANY(%(tables)s) AND indexname NOT IN (SELECT conname FROM pg_constraint)
"""


def execute(cursor: Any, statements: str) -> None:
    """Run statements one at a time, because VACUUM may not share a transaction. Each ends with `;` and a new line."""
    for statement in statements.split(";\n"):
        if statement.strip():
            cursor.execute(statement)


def fill_without_indexes(cursor: Any, tables: list[str], statements: str) -> None:
    cursor.execute("SET synchronous_commit = off; SET work_mem = '256MB'; SET maintenance_work_mem = '512MB'")
    cursor.execute(SCAFFOLD, {"tables": tables})
    drops, builds = zip(*cursor.fetchall(), strict=True)
    execute(cursor, ";\n".join((*drops, statements, *builds, f"VACUUM ANALYZE {', '.join(tables)}")))


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


class BenchEnvironment:
    def __init__(self, env: dict[str, str], *, short: bool = False, most: int | None = None) -> None:
        self.env = env
        #: True if the benchmark runs for seconds instead of minutes, only to check that the benchmark works.
        self.short = short
        #: Maximum number of rows of a table. None means no limit.
        self.most = most
        self.app: Flask = create_app(Config.from_env(env))

    @contextlib.contextmanager
    def database(self, **options: str) -> Iterator[Any]:
        """Yield a cursor of an own connection in autocommit mode."""
        with (
            contextlib.closing(psycopg2.connect(self.env["DATABASE_URL"], **options)) as connection,
            connection.cursor() as cursor,
        ):
            connection.autocommit = True
            yield cursor

    def execute(self, statements: str) -> None:
        with self.database() as cursor:
            execute(cursor, statements)

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
    def serving(self, **settings: str) -> Iterator[str]:
        """Run gunicorn as in production, with the service and the routes for comparison. Yield the base URL."""
        port = free_port()
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
