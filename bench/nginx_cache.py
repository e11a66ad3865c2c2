"""Benchmark of public reads through the deployed nginx.

It compares the reads with static files. `make outages` also measures them while PostgreSQL is stopped.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg2

from bench import wrk
from bench.environment import BenchEnvironment, Result, at_least, at_most
from bench.wrk import Target
from dev.stack.outages import IsolatedStack, Load, Request
from dev.stack.site import DeployedStack

READS = {
    "list": "/forum/threads?per_page=20",
    "thread": "/forum/threads/1",
    "emergency numbers": "/emergency/nearby?lat=-6.88&lng=107.55",
}

AWAY_S = 300.0
#: Seconds during which 32 clients request one address.
CROWD_S = 10

PERSON = {"username": "siti", "password": "rahasia123", "nama_ktp": "S", "nama_samaran": "M", "nomor_hp": "0812345678"}

FILL = """
INSERT INTO posts (category_id, user_id, title, content, replies_count)
SELECT (SELECT min(id) FROM forum_categories), (SELECT min(id) FROM users), 'Utas nomor ' || t,
       repeat('Apa yang boleh dimakan? ', 10), 10 FROM generate_series(1, 1000) t;
INSERT INTO posts (root_id, depth, user_id, content)
SELECT t.id, 1, t.user_id, repeat('Kurangi gula dan garam. ', 4) FROM posts t, generate_series(1, 10);
UPDATE forum_categories c SET threads_count = (SELECT count(*) FROM posts t WHERE t.category_id = c.id)
"""


class SiteWithFiles(DeployedStack):
    """The deployed site with additional static files. The benchmark compares the public reads with these files."""

    def __init__(self, env: dict[str, str], folder: Path) -> None:
        super().__init__(env, folder)
        (folder / "static").mkdir()
        files = f"location /static/ {{ root {folder}; default_type application/json; }}\n        "
        self.changes = {"location /api/ {": files + "location /api/ {"}  # type: ignore[misc]  # with its own folder

    def asked(self, route: str) -> int:
        """Return the number of requests for a route that nginx passed to the service."""
        return self.log.read_text().count(f'"route":"{route}"')


def run(_environment: BenchEnvironment) -> Iterator[Result]:
    with opened() as (_, site):
        yield from against_files(site)
        yield from a_crowd(site)


@contextlib.contextmanager
def opened() -> Iterator[tuple[IsolatedStack, SiteWithFiles]]:
    with (
        tempfile.TemporaryDirectory(prefix="nginx-cache-") as name,
        IsolatedStack.opened(Path(name), SiteWithFiles, FRONTEND_URL="https://app.example.org") as isolated,
    ):
        site = isolated.stack
        assert isinstance(site, SiteWithFiles)
        site.call("POST", "/register", json=PERSON).raise_for_status()
        with contextlib.closing(psycopg2.connect(isolated.postgres.url())) as connection:
            connection.cursor().execute(FILL)
            connection.commit()
        yield isolated, site


def against_files(site: SiteWithFiles) -> Iterator[Result]:
    targets = {}
    for name, path in READS.items():
        (site.folder / "static" / name.split()[0]).write_bytes(site.call("GET", path).content)
        targets[name] = Target([f"/api{path}"])
        targets[f"file of {name}"] = Target([f"/static/{name.split()[0]}"])
    rates = wrk.rates(site.url.removesuffix("/api"), targets)
    for name, path in READS.items():
        size = len(site.call("GET", path).content)
        label = f"nginx_cache: {name}, {size:,} bytes, {rates[name]:,.0f} a second"
        yield at_least(label, rates[name] / rates[f"file of {name}"], 0.65, "of a static file")


def a_crowd(site: SiteWithFiles) -> Iterator[Result]:
    route, target = "/api/forum/threads/<int:thread_id>", Target(["/api/forum/threads/1"])
    time.sleep(2)  # nginx writes its log lines in batches
    before = site.asked(route)
    wrk.rate(site.url.removesuffix("/api"), target, seconds=CROWD_S, connections=32)
    time.sleep(2)
    reached = (site.asked(route) - before) / CROWD_S
    yield at_most("edge: of 32 clients reach the service", reached, 1, "requests a second")


def without_postgres(away_s: float = AWAY_S) -> Iterator[Result]:
    """Stop PostgreSQL. `make outages` measures this, because it takes five minutes."""
    with opened() as (isolated, site):
        token = site.call("POST", "/login", json=PERSON).json()["access_token"]
        kinds: dict[str, Request] = {name: ("GET", path, {}) for name, path in READS.items()}
        write: Request = ("POST", "/forum/threads/1/like", {"token": token})
        for path in READS.values():
            site.call("GET", path).raise_for_status()
        with Load(site, {**kinds, "writes": write}) as load:
            with isolated.without("postgres", "stopped"):
                down = time.monotonic()
                time.sleep(away_s)
                ready = time.monotonic()
            time.sleep(2)
    name = f"nginx_cache: PostgreSQL stopped {away_s:.0f} s"
    reads = [status for kind in READS for _, _, status in load.answers[kind].seen]
    writes = load.answers["writes"].during(down, ready)
    yield at_most(f"{name}: failed reads", sum(status != 200 for status in reads), 0, f"of {len(reads):,}")
    other = sum(status != 503 for *_, status in writes)
    yield at_most(f"{name}: writes other than 503", other, 0, f"of {len(writes):,}")
    yield at_most(f"{name}: slowest refusal", max(took for _, took, _ in writes), 0.5, "s")
