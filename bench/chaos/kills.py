"""Chaos experiment: random kills of processes, freezes of workers, and lines that the provider cuts.

The processes are workers, the processes of their jobs ("horses"), schedulers, Valkey and PostgreSQL. Valkey is also
emptied with FLUSHALL. A freeze is shorter than the lease, the time for which a worker reserves a delivery. A cut line
means that the provider takes a message, but closes the connection before it responds.

People answer their reminders at the same time. At the end, each dose must be in the ledger (the record of doses)
exactly once, with the last answer.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from threading import Timer

import psutil
import redis

from bench.chaos.outcome import ExperimentOutcome, ExperimentPlan
from bench.chaos.people import People
from bench.chaos.world import World, opened
from bench.environment import Result

#: Relative frequency of each fault. "horse" is a kill of the child process in which an RQ worker runs a job. "clock" is
#: a kill of the scheduler.
FAULTS = {
    "horse": 25, "worker": 17, "clock": 15, "redis killed": 9, "redis emptied": 10, "postgres crash": 8, "freeze": 8,
    "lines cut": 8,
}  # fmt: skip
FROZEN_S = (15.0, 25.0)
#: Number of calls to the provider that a cut line affects.
CUT = 5
MAX_DOUBLED = 0.05

WHOLE = ExperimentPlan(reminders=2000, seconds=300, faults=80)
SHORT = ExperimentPlan(reminders=300, seconds=30, faults=14)


def run(plan: ExperimentPlan) -> Iterator[Result]:
    outcome = play(plan)
    print(outcome)
    cut = min(outcome.unknown, round(MAX_DOUBLED * plan.reminders))
    yield from outcome.results(f"{plan.faults} faults", doubled=cut)


def play(plan: ExperimentPlan) -> ExperimentOutcome:
    with opened(plan) as world:
        return Kills(world).play()


class Kills:
    """Faults at random times. Each fault kills a process of `world` or empties Valkey."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.random = world.random

    def play(self) -> ExperimentOutcome:
        world, people = self.world, People(self.world)
        world.start_workers()
        world.remind(people.remind_of)
        with people.answering():
            self._kill()
            outcome = world.finish()
        outcome.ledger = people.judge()
        return outcome

    def _kill(self) -> None:
        world, kinds = self.world, self._kinds(self.world.plan.faults)
        moments = sorted(self.random.uniform(world.first_due, world.last_due) for _ in kinds)
        for moment, kind in zip(moments, kinds, strict=True):
            world.go_on_until(moment)
            world.outcome.faults[self._do_or_make_up(kind)] += 1

    def _kinds(self, faults: int) -> list[str]:
        first = list(FAULTS)[:faults]  # each kind of fault at least once
        kinds = first + self.random.choices(list(FAULTS), list(FAULTS.values()), k=faults - len(first))
        self.random.shuffle(kinds)
        return kinds

    def _do_or_make_up(self, kind: str) -> str:
        """Apply a fault, and return its name.

        The fault can be impossible, for example if no process of a job ("horse") is running. The function then kills a
        worker instead, so that the number of faults is right.
        """
        return next(fault for fault in (kind, "worker") if self._do(fault))

    def _do(self, kind: str) -> bool:
        faults: dict[str, Callable[[], bool]] = {
            "horse": lambda: self._kill_below(lambda pid, leader: os.getpgid(pid) == pid != leader),
            "clock": lambda: self._kill_below(lambda pid, leader: os.getpgid(pid) == leader),
            "worker": self._kill_worker,
            "redis killed": self._kill_redis,
            "redis emptied": self._empty_redis,
            "postgres crash": self._crash_postgres,
            "freeze": self._freeze_worker,
            "lines cut": self._cut_lines,
        }
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            return faults[kind]()
        return False

    def _kill_below(self, matches: Callable[[int, int], bool]) -> bool:
        """Kill one child process of a worker, and return whether one was killed.

        The process is a horse (the process of a job) or a scheduler. A horse leads its own process group. A scheduler
        is in the worker's group. A horse lives for milliseconds, so the function searches for two seconds.
        """
        workers = self.world.workers
        stop = time.monotonic() + 2
        while time.monotonic() < stop:
            for worker in self.random.sample(workers, len(workers)):
                leader = worker.process.pid
                with contextlib.suppress(psutil.Error, ProcessLookupError):
                    for child in psutil.Process(leader).children(recursive=True):
                        words = " ".join(child.cmdline())
                        # "spawn_main" is in the command line of a restarted scheduler
                        is_ours = "rq" in words or "spawn_main" in words
                        if is_ours and matches(child.pid, os.getpgid(leader)):
                            child.kill()
                            return True
            time.sleep(0.003)
        return False

    def _kill_worker(self) -> bool:
        self.random.choice(self.world.workers).process.kill()
        return True

    def _freeze_worker(self) -> bool:
        """Freeze a worker and the processes of its jobs. A timer continues them, while other faults go on."""
        worker = psutil.Process(self.random.choice(self.world.workers).process.pid)
        processes = [worker, *worker.children(recursive=True)]

        def each(act: Callable[[psutil.Process], None]) -> None:
            for process in processes:
                with contextlib.suppress(psutil.Error):
                    act(process)

        each(psutil.Process.suspend)
        Timer(self.random.uniform(*FROZEN_S), each, [psutil.Process.resume]).start()
        return True

    def _cut_lines(self) -> bool:
        self.world.sim.fault("messaging", "drop", times=CUT, after=True)
        return True

    def _kill_redis(self) -> bool:
        self.world.redis_child.process.kill()
        self.world.redis_child.process.wait()
        return True

    def _empty_redis(self) -> bool:
        try:
            redis.Redis.from_url(self.world.settings["REDIS_URL"]).flushall()
        except redis.RedisError:
            return False
        return True

    def _crash_postgres(self) -> bool:
        """Kill one server process of PostgreSQL.

        PostgreSQL then ends its other processes and recovers from its log, as after any crash.
        """
        for process in psutil.process_iter(["cmdline"]):
            words = " ".join(process.info["cmdline"] or [])
            if words.startswith("postgres: ") and "[local]" in words and process.ppid() == self._postmaster():
                process.kill()
                return True
        return False

    def _postmaster(self) -> int:
        return int((self.world.folder / "postgres" / "postmaster.pid").read_text().splitlines()[0])
