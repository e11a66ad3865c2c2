"""Chaos experiment: a process of a worker hangs during a call.

Later reminders must not wait for this process.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator

import psutil

from bench.chaos.outcome import ExperimentPlan
from bench.chaos.world import Workers, World, opened
from bench.environment import Result, at_most
from dev.stack.waiting import wait_until

#: In the two plans below, `faults` is the number of tests. Each test uses the next entry of `WAYS`, which names what
#: hangs. The reminders of a test fall due within `seconds` seconds.
WHOLE = ExperimentPlan(reminders=90, seconds=60, faults=2)
SHORT = ExperimentPlan(reminders=60, seconds=30, faults=1)

#: Two workers, the minimum in production.
WORKERS = Workers(queues=("urgent", "bulk"))
LATENCY_S = 1.0
LATEST_S = 15.0
WAYS = ("a worker and its job", "a job")


def run(plan: ExperimentPlan) -> Iterator[Result]:
    with opened(plan, workers=WORKERS) as world:
        world.sim.fault("messaging", "latency", seconds=LATENCY_S, times=None)
        world.start_workers()
        for way in WAYS[: plan.faults]:
            world.remind()
            world.go_on_until(world.first_due)
            hung = _hang(world, with_worker=way == WAYS[0])
            since = time.time()
            world.go_on_until(world.last_due)
            for pid in hung:
                with contextlib.suppress(ProcessLookupError):  # The worker has already ended this process.
                    os.kill(pid, signal.SIGKILL)
            outcome = world.finish()
            print(outcome)
            late = [late_s for name, late_s in outcome.late_s.items() if world.due[name].timestamp() > since]
            yield at_most(f"{way} hangs: latest of {len(late)} due meanwhile", max(late), LATEST_S, "s after due")
            yield from outcome.results(f"{way} hangs", doubled=outcome.unknown)


def _hang(world: World, *, with_worker: bool) -> list[int]:
    """Wait for a call to the provider, then freeze the process that runs the urgent worker's job.

    If `with_worker` is true, also freeze the worker. The worker's scheduler process continues. Return the ids of the
    frozen processes.
    """
    leader = psutil.Process(world.workers[0].process.pid)

    def horses() -> list[int]:
        return [child.pid for child in leader.children() if os.getpgid(child.pid) == child.pid]

    calls = len(world.sim.messaging.calls)
    wait_until(lambda: len(world.sim.messaging.calls) > calls and bool(horses()))
    hung = [leader.pid, *horses()] if with_worker else horses()
    for pid in hung:
        os.kill(pid, signal.SIGSTOP)
    return hung
