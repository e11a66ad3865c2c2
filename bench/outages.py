"""`make outages`: PostgreSQL or Redis is stopped under load.

The experiments `outages` and `stopped` of `bench.chaos` follow.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from bench import nginx_cache
from bench.environment import BenchEnvironment, Result, at_most
from dev.stack.outages import LOG, READ, Answers, IsolatedStack, Load, Request
from dev.stack.waiting import eventually

AWAY_S = 30.0
#: Seconds without a fault before the outage (for comparison) and after it (for recovery).
CALM_S = 8.0

LOGIN: Request = ("POST", "/login", {"json": {"username": "siti", "password": "rahasia123"}})
#: Four clients send logs at the same time, so that each outage has 5,000 log requests.
KINDS = {"reads": READ, "logins": LOGIN, "logs": LOG, "logs 2": LOG, "logs 3": LOG, "logs 4": LOG}


def run(environment: BenchEnvironment) -> Iterator[Result]:
    yield from nginx_cache.without_postgres(20 if environment.short else nginx_cache.AWAY_S)
    with tempfile.TemporaryDirectory(prefix="outage-") as name, IsolatedStack.opened(Path(name)) as isolated:
        isolated.stack.call("POST", "/register", json=nginx_cache.PERSON).raise_for_status()
        yield from stopped(isolated, "postgres", without_postgres)
        yield from stopped(isolated, "redis", without_redis)


#: Function that judges the answers of the clients. Its parameters are the name of the outage, the answers by kind, and
#: the monotonic times at which the server stopped, started again, and was back.
Judge = Callable[[str, Mapping[str, Answers], float, float, float], Iterator[Result]]


def stopped(isolated: IsolatedStack, server: str, judge: Judge) -> Iterator[Result]:
    """Stop a server under load. Judge the answers, and count the lost logs."""
    before = isolated.logged()
    with Load(isolated.stack, KINDS) as load:
        time.sleep(CALM_S)
        with isolated.without(server, "stopped"):
            down = time.monotonic()
            time.sleep(AWAY_S)
            ready = time.monotonic()
        up = time.monotonic()
        time.sleep(CALM_S)
    name = f"{server} stopped {AWAY_S:.0f} s"
    yield from judge(name, load.answers, down, ready, up)
    accepted = sum(answers.accepted for kind, answers in load.answers.items() if "logs" in kind)
    eventually(lambda: isolated.logged() - before >= accepted)
    yield at_most(f"{name}: logs lost", accepted - (isolated.logged() - before), 0, f"of {accepted:,}")


def without_postgres(
    name: str, answers: Mapping[str, Answers], down: float, ready: float, up: float
) -> Iterator[Result]:
    asked = [one for kind in ("reads", "logins") for one in answers[kind].within(down, ready)]
    yield at_most(f"{name}: slowest answer", max(took for _, took, _ in asked), 0.5, "s")
    yield at_most(f"{name}: answers other than 503", sum(status != 503 for *_, status in asked), 0, f"of {len(asked)}")
    yield at_most(f"{name}: back after", max(answers[kind].back_s(up) for kind in ("reads", "logins")), 1, "s")


def without_redis(name: str, answers: Mapping[str, Answers], down: float, ready: float, _up: float) -> Iterator[Result]:
    for kind in ("reads", "logins", "logs"):
        grown = answers[kind].p99_s(down, ready) - answers[kind].p99_s(down - CALM_S, down)
        yield at_most(f"{name}: p99 of {kind} grows by", grown * 1000, 250, "ms")
    asked = [one for kind in ("reads", "logins") for one in answers[kind].during(down, ready)]
    yield at_most(f"{name}: requests refused", sum(status >= 400 for *_, status in asked), 0, f"of {len(asked)}")
