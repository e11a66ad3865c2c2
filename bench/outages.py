"""Benchmark of outages: PostgreSQL or Redis is stopped or frozen for half a minute, PostgreSQL also for five minutes.

It measures the responses of the service, and the delay of reminders that are due in the outage.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench import nginx_cache
from bench.chaos.outcome import ExperimentOutcome, ExperimentPlan
from bench.chaos.world import World, opened
from bench.environment import BenchEnvironment, Result, at_most
from dev.stack.outages import LOG, READ, IsolatedStack, Load, Request
from dev.stack.site import DeployedStack
from dev.stack.waiting import eventually

AWAY_S = 30.0
#: Seconds without a fault before the outage (for comparison) and after it (for recovery).
CALM_S = 8.0

PERSON = {"username": "siti", "password": "rahasia123", "nama_ktp": "S", "nama_samaran": "M", "nomor_hp": "0812345678"}
LOGIN: Request = ("POST", "/login", {"json": {"username": "siti", "password": "rahasia123"}})
#: Four clients send logs at the same time, so that each outage has 5,000 log requests.
KINDS = {"reads": READ, "logins": LOGIN, "logs": LOG, "logs 2": LOG, "logs 3": LOG, "logs 4": LOG}

#: Requests that fail while PostgreSQL is stopped or frozen. If it is frozen, nginx serves reads from its cache.
NEED_POSTGRES = {"stopped": ("reads", "logins"), "frozen": ("logins",)}

#: Seconds after which nginx returns an error if the database hangs (`proxy_read_timeout`).
ANSWERED_S = 20.0


def run(_: BenchEnvironment) -> Iterator[Result]:
    yield from nginx_cache.without_postgres()
    with tempfile.TemporaryDirectory(prefix="outage-") as name, IsolatedStack.opened(Path(name)) as isolated:
        isolated.stack.call("POST", "/register", json=PERSON).raise_for_status()
        yield from without_postgres(isolated, "stopped", refused_s=0.5, back_s=1)
        for how in ("stopped", "frozen"):
            yield from without_redis(isolated, how)
    with (
        tempfile.TemporaryDirectory(prefix="outage-") as name,
        IsolatedStack.opened(Path(name), DeployedStack) as deployed,
    ):
        deployed.stack.call("POST", "/register", json=PERSON).raise_for_status()
        yield from without_postgres(deployed, "frozen", refused_s=ANSWERED_S + 0.5, back_s=5)
    with opened(ExperimentPlan(reminders=200, seconds=AWAY_S)) as world:
        world.start_workers()
        for server in ("redis", "postgres"):
            for how in ("stopped", "frozen"):
                outcome = through(world, server, how, lambda: time.sleep(AWAY_S))
                name = f"reminders while {server} is {how}"
                yield at_most(f"{name}: lost", outcome.lost + outcome.lost_pushes, 0, "messages and pushes")
                cut = outcome.unknown if server == "postgres" else 0
                yield at_most(f"{name}: sent twice", outcome.doubled, cut, "messages")
                latest_s = 4 if server == "redis" else AWAY_S + 15
                yield at_most(f"{name}: latest", outcome.latest_s, latest_s, "s after due")


# --- responses ---


def without_postgres(isolated: IsolatedStack, how: str, *, refused_s: float, back_s: float) -> Iterator[Result]:
    before = isolated.logged()
    with Load(isolated.stack, KINDS, pause_s=0.02 if how == "stopped" else 0.2) as load:
        time.sleep(CALM_S)
        with isolated.without_postgres(how):
            down = time.monotonic()
            time.sleep(AWAY_S)
            ready = time.monotonic()
        up = time.monotonic()
        time.sleep(CALM_S)
    name = f"PostgreSQL {how} {AWAY_S:.0f} s"
    asked = [one for kind in NEED_POSTGRES[how] for one in load.answers[kind].within(down, ready)]
    yield at_most(f"{name}: slowest answer", max(took for _, took, _ in asked), refused_s, "s")
    yield at_most(f"{name}: answers other than 503", sum(status != 503 for *_, status in asked), 0, f"of {len(asked)}")
    yield at_most(f"{name}: back after", max(load.answers[kind].back_s(up) for kind in NEED_POSTGRES[how]), back_s, "s")
    yield lost_logs(isolated, load, before, name)


def without_redis(isolated: IsolatedStack, how: str) -> Iterator[Result]:
    before = isolated.logged()
    with Load(isolated.stack, KINDS) as load:
        start = time.monotonic()
        time.sleep(CALM_S)
        with isolated.without_redis(how):
            away = time.monotonic()
            time.sleep(AWAY_S)
            back = time.monotonic()
        time.sleep(CALM_S)
    name = f"Redis {how} {AWAY_S:.0f} s"
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
