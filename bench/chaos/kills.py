"""Chaos experiment: random kills of processes, freezes of workers, and lines that the provider cuts.

The processes are workers, the processes of their jobs ("horses"), schedulers, Valkey and PostgreSQL. Valkey is also
emptied with FLUSHALL. A freeze is shorter than the lease, the time for which a worker reserves a delivery. A cut line
means that the provider takes a message, but closes the connection before it responds.

Most people answer their reminders at the same time.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from threading import Timer

import psutil
import redis
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.core.database.session import unit_of_work
from app.pengingat.ledger import answers
from app.pengingat.ledger.schemas import NewAnswer
from bench.chaos.outcome import ExperimentPlan
from bench.chaos.world import World
from bench.environment import Result, at_most
from dev.stack.outages import frozen

FROZEN_S = (15.0, 25.0)
#: Number of calls to the provider that a cut line affects.
CUT = 5
#: Share of the reminders that may arrive twice.
MAX_DOUBLED = 0.05
#: Share of the reminders that people answer. The others test that a repeat after an unknown outcome arrives.
ANSWERED = 0.8
#: A message may arrive these seconds after the answer, because a worker that had claimed it before was frozen. A repeat
#: after an unknown outcome comes later.
SAID_S = 26.0

DONE = "SELECT count(*) FROM occurrences WHERE state = 'done' AND reminder_id = ANY(%s)"

WHOLE = ExperimentPlan(reminders=2000, seconds=300, faults=80)
SHORT = ExperimentPlan(reminders=300, seconds=30, faults=14)


def run(plan: ExperimentPlan) -> Iterator[Result]:
    with Kills.opened(plan) as world:
        yield from world.play(doubled=round(MAX_DOUBLED * plan.reminders))


class Kills(World):
    """A world with faults at random times. People answer a reminder that arrived both as a message and as a push."""

    def play(self, **limits: float) -> Iterator[Result]:
        self.start_workers()
        self.remind()
        #: Titles of the reminders to answer.
        self.unanswered = {title for title in self.reminders if self.random.random() < ANSWERED}
        #: Time after the answer to each reminder was committed, in seconds since 1970.
        self.answered: dict[str, float] = {}
        faults = Counter(self._faults())
        print(", ".join(f"{count} x {kind}" for kind, count in sorted(faults.items())))
        outcome = self.finish()
        name = f"{self.plan.faults} faults"
        yield from outcome.results(name, **limits)
        after = [at for title, said in self.answered.items() for at in outcome.messages[title] if at > said + SAID_S]
        yield at_most(f"{name}: said after the answer", len(after), 0, f"messages, of {len(self.answered)} answers")
        done = self.isolated.count(DONE, [reminder.id for reminder in self.reminders.values()])
        yield at_most(f"{name}: answers lost", len(self.answered) - done, 0, f"of {len(self.answered)}")

    def keep_up(self) -> None:
        super().keep_up()
        outcome = self.count()
        # After an error, answer again in the next call. The failed answer may be recorded, which has no effect.
        with contextlib.suppress(DBAPIError, PoolTimeoutError), self.app.app_context():
            for title in self.unanswered & outcome.messages.keys() & outcome.pushed:
                reminder = self.reminders[title]
                with unit_of_work():
                    answers.confirm(reminder.user_id, reminder.id, NewAnswer("done"))
                self.unanswered.remove(title)
                self.answered[title] = time.time()

    def _faults(self) -> Iterator[str]:
        """Apply the faults at random times, and yield their names. Each kind of fault comes at least once."""
        faults = [*FAULTS, *self.random.choices(list(FAULTS), list(FAULTS.values()), k=self.plan.faults - len(FAULTS))]
        self.random.shuffle(faults)
        for moment in sorted(self.random.uniform(self.first_due, self.last_due) for _ in faults):
            self.go_on_until(moment)
            yield self._apply(faults.pop())

    def _apply(self, fault: Callable[[Kills], bool]) -> str:
        """Apply a fault, and return its name.

        The fault can be impossible, for example if no process of a job ("horse") is running. The function then kills a
        worker instead, so that the number of faults is right.
        """
        with contextlib.suppress(psutil.Error, ProcessLookupError, redis.RedisError):
            if fault(self):
                return fault.__name__
        self.kill_worker()
        return "kill_worker"

    def kill_horse(self) -> bool:
        return self._kill_below(lambda pid, leader: os.getpgid(pid) == pid != leader)

    def kill_scheduler(self) -> bool:
        return self._kill_below(lambda pid, leader: os.getpgid(pid) == leader)

    def _kill_below(self, matches: Callable[[int, int], bool]) -> bool:
        """Kill one child process of a worker, and return whether one was killed.

        The process is a horse (the process of a job) or a scheduler. A horse leads its own process group. A scheduler
        is in the worker's group. A horse lives for milliseconds, so the function searches for two seconds.
        """
        workers = self.stack.processes
        stop = time.monotonic() + 2
        while time.monotonic() < stop:
            for worker in self.random.sample(workers, len(workers)):
                with contextlib.suppress(psutil.Error, ProcessLookupError):
                    for child in psutil.Process(worker.pid).children(recursive=True):
                        words = " ".join(child.cmdline())
                        # "spawn_main" is in the command line of a restarted scheduler
                        is_ours = "rq" in words or "spawn_main" in words
                        if is_ours and matches(child.pid, os.getpgid(worker.pid)):
                            child.kill()
                            return True
            time.sleep(0.003)
        return False

    def kill_worker(self) -> bool:
        self.random.choice(self.stack.processes).kill()
        return True

    def freeze_worker(self) -> bool:
        """Freeze a worker and the processes of its jobs. A timer continues them, while other faults go on."""
        freeze = contextlib.ExitStack()
        freeze.enter_context(frozen(self.random.choice(self.stack.processes).pid))
        Timer(self.random.uniform(*FROZEN_S), freeze.close).start()
        return True

    def cut_lines(self) -> bool:
        self.sim.fault("messaging", "drop", times=CUT, after=True)
        return True

    def kill_redis(self) -> bool:
        with self.isolated.without("redis", "killed"):
            return True

    def empty_redis(self) -> bool:
        return bool(redis.Redis.from_url(self.isolated.valkey.url).flushall())

    def crash_postgres(self) -> bool:
        """Kill one server process of PostgreSQL.

        PostgreSQL then ends its other processes and recovers from its log, as after any crash.
        """
        for process in psutil.Process(self.isolated.postgres.child.process.pid).children():
            if "[local]" in " ".join(process.cmdline()):
                process.kill()
                return True
        return False


#: Relative frequency of each fault. A "horse" is the child process in which an RQ worker runs a job.
FAULTS: dict[Callable[[Kills], bool], int] = {
    Kills.kill_horse: 25, Kills.kill_worker: 17, Kills.kill_scheduler: 15, Kills.kill_redis: 9, Kills.empty_redis: 10,
    Kills.crash_postgres: 8, Kills.freeze_worker: 8, Kills.cut_lines: 8,
}  # fmt: skip
