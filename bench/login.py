"""Benchmark of reads while six clients log in.

The rate of the reads must be at least half the rate without logins.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from statistics import median

from bench import wrk
from bench.environment import BenchEnvironment, Result, at_least
from bench.wrk import Target

ROUNDS = 5
SECONDS = 3

READS = Target(["/api/roles", "/api/kategori"])
LOGINS = Target(["/api/login"], method="POST", bodies=[json.dumps({"username": "bench.0", "password": "rahasia123"})])


def run(environment: BenchEnvironment) -> Iterator[Result]:
    environment.people(1)
    alone: list[float] = []
    beside: list[float] = []
    with environment.serving() as url:
        wrk.rate(url, READS, seconds=1)
        for _ in range(ROUNDS):
            alone.append(wrk.rate(url, READS, seconds=SECONDS, connections=10))
            logins = threading.Thread(
                target=wrk.rate, args=(url, LOGINS), kwargs={"seconds": SECONDS + 1, "connections": 6}
            )
            logins.start()
            beside.append(wrk.rate(url, READS, seconds=SECONDS, connections=10))
            logins.join()
    yield at_least("reads while 6 clients log in", median(beside) / median(alone), 0.5, "of alone")
