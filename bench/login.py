"""Benchmark of reads while six clients log in.

The rate of the reads must be at least half the rate without logins.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator

from bench import wrk
from bench.environment import BenchEnvironment, Result, at_least
from bench.wrk import Target

READS = Target(["/api/roles", "/api/kategori"])
LOGINS = Target(["/api/login"], method="POST", bodies=[json.dumps({"username": "bench.0", "password": "rahasia123"})])


def run(environment: BenchEnvironment) -> Iterator[Result]:
    environment.people(1)
    with environment.running() as url:
        wrk.rate(url, READS, seconds=1)
        kept, _ = wrk.beside(url, READS, lambda: _log_in(url), connections=10)
    yield at_least("reads while 6 clients log in", kept, 0.5, "of alone")


def _log_in(url: str) -> None:
    with contextlib.suppress(SystemExit):  # a full machine refuses some logins, as it should
        wrk.rate(url, LOGINS, seconds=4, connections=6)
