"""`make outages`: PostgreSQL or Redis is stopped under load, and while reminders fall due.

The experiments `outages` and `stopped` of `bench.chaos` follow.
"""

from __future__ import annotations

import functools
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench import nginx_cache
from bench.chaos.outcome import ExperimentOutcome, ExperimentPlan
from bench.chaos.world import World, opened
from bench.environment import BenchEnvironment, Result, at_most
from dev.stack.outages import LOG, READ, IsolatedStack, Load, Request
from dev.stack.waiting import eventually

AWAY_S = 30.0
#: Seconds without a fault before the outage (for comparison) and after it (for recovery).
CALM_S = 8.0

LOGIN: Request = ("POST", "/login", {"json": {"username": "siti", "password": "rahasia123"}})
#: Four clients send logs at the same time, so that each outage has 5,000 log requests.
KINDS = {"reads": READ, "logins": LOGIN, "logs": LOG, "logs 2": LOG, "logs 3": LOG, "logs 4": LOG}

#: Durations of the outages in which reminders fall due, in seconds.
REDIS_AWAY_S = (60.0, 300.0)


def run(environment: BenchEnvironment) -> Iterator[Result]:
    yield from nginx_cache.without_postgres(20 if environment.short else nginx_cache.AWAY_S)
    with tempfile.TemporaryDirectory(prefix="outage-") as name, IsolatedStack.opened(Path(name)) as isolated:
        isolated.stack.call("POST", "/register", json=nginx_cache.PERSON).raise_for_status()
        yield from without_postgres(isolated)
        yield from without_redis(isolated)
    for away_s in REDIS_AWAY_S[: 1 if environment.short else 2]:
        with opened(ExperimentPlan(reminders=200, seconds=away_s)) as world:
            world.start_workers()
            outcome = through(world, "redis", "stopped", functools.partial(time.sleep, away_s))
        yield from outcome.results(f"Redis away {away_s:.0f} s", doubled=0, latest_s=4)


# --- responses ---


def without_postgres(isolated: IsolatedStack) -> Iterator[Result]:
    before = isolated.logged()
    with Load(isolated.stack, KINDS) as load:
        time.sleep(CALM_S)
        with isolated.without_postgres("stopped"):
            down = time.monotonic()
            time.sleep(AWAY_S)
            ready = time.monotonic()
        up = time.monotonic()
        time.sleep(CALM_S)
    name = f"PostgreSQL stopped {AWAY_S:.0f} s"
    asked = [one for kind in ("reads", "logins") for one in load.answers[kind].within(down, ready)]
    yield at_most(f"{name}: slowest answer", max(took for _, took, _ in asked), 0.5, "s")
    yield at_most(f"{name}: answers other than 503", sum(status != 503 for *_, status in asked), 0, f"of {len(asked)}")
    yield at_most(f"{name}: back after", max(load.answers[kind].back_s(up) for kind in ("reads", "logins")), 1, "s")
    yield lost_logs(isolated, load, before, name)


def without_redis(isolated: IsolatedStack) -> Iterator[Result]:
    before = isolated.logged()
    with Load(isolated.stack, KINDS) as load:
        start = time.monotonic()
        time.sleep(CALM_S)
        with isolated.without_redis("stopped"):
            away = time.monotonic()
            time.sleep(AWAY_S)
            back = time.monotonic()
        time.sleep(CALM_S)
    name = f"Redis stopped {AWAY_S:.0f} s"
    for kind in ("reads", "logins", "logs"):
        answers = load.answers[kind]
        grown = answers.p99_s(away, back) - answers.p99_s(start, away)
        yield at_most(f"{name}: p99 of {kind} grows by", grown * 1000, 250, "ms")
    met = [one for kind in ("reads", "logins") for one in load.answers[kind].during(away, back)]
    yield at_most(f"{name}: requests refused", sum(status >= 400 for *_, status in met), 0, f"of {len(met)}")
    yield lost_logs(isolated, load, before, name)


def lost_logs(isolated: IsolatedStack, load: Load, before: int, name: str) -> Result:
    accepted = sum(answers.accepted for kind, answers in load.answers.items() if "logs" in kind)
    eventually(lambda: isolated.logged() - before >= accepted)
    return at_most(f"{name}: logs lost", accepted - (isolated.logged() - before), 0, f"of {accepted:,}")


# --- reminders ---


def through(world: World, server: str, how: str, meanwhile: Callable[[], object]) -> ExperimentOutcome:
    """Stop or freeze a server when the first reminder is due, and call `meanwhile` during the outage.

    Then start or continue the server, and return the outcome of the reminders. `server` is "redis" or "postgres". `how`
    is "stopped" or "frozen".
    """
    world.remind()
    world.go_on_until(world.first_due)
    with world.without(server, how):
        meanwhile()
    return world.finish()
