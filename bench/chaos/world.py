"""Servers, workers and people of a chaos row (one test of `bench.chaos`).

A process that dies is restarted, as systemd does.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg2
import redis
from flask import Flask
from flask_migrate import upgrade

from app import create_app
from app.cli import seed_all
from app.core.database.session import db, unit_of_work
from app.identity import sessions, users
from app.pengingat import service
from app.pengingat.schemas import NewPengingat
from app.providers import vapid
from app.push import service as push
from bench.chaos.outcome import ExperimentOutcome, ExperimentPlan
from config import ROOT, Config
from dev.servers import Postgres, Valkey, start_postgres, start_valkey, valkey_server
from dev.simulators import Server, simulators
from dev.stack.outages import frozen
from dev.stack.waiting import wait_until
from dev.supervisor import Child, Supervisor

#: Maximum number of reminders of one person.
EACH = 40
#: Minimum seconds from the creation of a reminder to its due time.
HEAD_START_S = 3.0
#: Maximum seconds to wait after the due time of the last reminder. A delivery that is still open after this time counts
#: as stuck. If a worker dies, its deliveries are retried after their lease (time limit). On a busy machine the retries
#: take longer.
SETTLE_S = 300.0

#: Type of a function that creates a reminder with this name and due time for this user id.
RemindOf = Callable[[str, datetime, int], None]

OPEN = "SELECT count(*) FROM deliveries WHERE state IN ('pending', 'claimed') AND due_at < now() + interval '5 minutes'"
#: Query for the number of reminders in messages with an unknown outcome. A message names all reminders of a person that
#: are due in the same second.
UNKNOWN = """
SELECT coalesce(sum(cardinality(said)), 0) FROM deliveries
WHERE channel = 'messaging' AND unknowns > 0 AND user_id = ANY(%s)
"""

#: The queue of each worker.
QUEUES = ("urgent", "urgent", "bulk")


class World:
    """Servers, workers and people of a chaos experiment, and the outcome of its reminders."""

    def __init__(
        self,
        plan: ExperimentPlan,
        folder: Path,
        supervisor: Supervisor,
        sim: Server,
        worker: str,
    ) -> None:
        self.plan, self.folder, self.supervisor, self.sim = plan, folder, supervisor, sim
        self.random = random.Random(plan.seed)
        self.outcome = ExperimentOutcome(plan)
        self.postgres: Postgres = start_postgres(supervisor, folder / "postgres")
        self.valkey: Valkey = start_valkey(supervisor, folder / "valkey")
        public, private = vapid.new_keys()
        self.settings = {
            "ENVIRONMENT": "testing",
            "RATE_LIMITS": "off",
            "DATABASE_URL": self.postgres.url(),
            "REDIS_URL": self.valkey.url,
            "MEDIA_ROOT": str(folder / "media"),
            "VAPID_PUBLIC_KEY": public,
            "VAPID_PRIVATE_KEY": private,
            "VAPID_SUBJECT": "mailto:operator@example.com",
            **sim.messaging.env(),
        }
        self.app: Flask = create_app(Config.from_env(self.settings))
        self.redis_child: Child = self.valkey.child
        #: The class for `rq worker`.
        self.worker = worker
        self.workers: list[Child] = []
        self._rounds = self._named = 0
        #: User ids of this round's people.
        self.people: list[int] = []
        #: Due time of each reminder, by name.
        self.due: dict[str, datetime] = {}
        with self.app.app_context():
            upgrade()
            seed_all()

    # --- people and their reminders ---

    def remind(self, remind_of: RemindOf | None = None) -> None:
        """Create the people and reminders of a round, and reset the results of the earlier round."""
        self.outcome = ExperimentOutcome(self.plan)
        self.due.clear()
        self._rounds += 1
        with self.app.app_context():
            self.people = self.new_people(1 + self.plan.reminders // EACH)
            self.sim.messaging.sent.clear()
            self.sim.push.messages.clear()
            head_start = timedelta(seconds=HEAD_START_S)
            start = datetime.now(UTC) + timedelta(seconds=self.plan.reminders / 50) + head_start
            offsets = sorted(self.random.uniform(0, self.plan.seconds) for _ in range(self.plan.reminders))
            for n, offset in enumerate(offsets):
                # On a slow machine, use a later due time, so that each reminder exists before its due time.
                due = max(start + timedelta(seconds=offset), datetime.now(UTC) + head_start)
                name = f"pengingat-{self._rounds}-{n:05d}"
                (remind_of or self.remind_of)(name, due, self.people[n % len(self.people)])
                self.due[name] = due

    def remind_of(self, name: str, due: datetime, user_id: int) -> None:
        data: NewPengingat = {"tipe": "terapi", "judul": name, "timezone": "Asia/Jakarta", "details": {}, "waktu": due}
        with unit_of_work():
            service.create(user_id, data)

    def new_people(self, count: int) -> list[int]:
        """Create `count` people with a phone and a browser, and return their ids."""
        first, self._named = self._named, self._named + count
        with unit_of_work():
            ids = [
                users.create(
                    {
                        "username": f"chaos.{n}",
                        "password": "rahasia123",
                        "nama_ktp": f"Orang {n}",
                        "nomor_hp": f"0812{n:08d}",
                    },
                    ["pasien"],
                ).id
                for n in range(first, self._named)
            ]
        for user_id in ids:
            browser = self.sim.push.subscribe(self.settings["VAPID_PUBLIC_KEY"])
            with unit_of_work():
                token = sessions.begin(users.get(user_id)).access_token
            caller = sessions.get_caller(token)
            with unit_of_work():
                push.subscribe({**browser, "user_id": None}, caller)
        return ids

    # --- workers ---

    def start_workers(self) -> None:
        """Start all workers, and wait until RQ has registered them."""
        self.workers = [self._start_worker(number) for number in range(len(QUEUES))]
        with redis.Redis.from_url(self.settings["REDIS_URL"]) as connection:
            wait_until(lambda: connection.scard("rq:workers") == len(self.workers))

    def _start_worker(self, number: int) -> Child:
        rq = [sys.executable, "-m", "rq.cli", "worker", "-c", "worker", "-w", self.worker]
        env = {**os.environ, **self.settings}
        return self.supervisor.spawn(f"worker-{number}", [*rq, QUEUES[number]], env=env, cwd=ROOT)

    def end_workers(self) -> None:
        """End the workers. Call this before the servers end, because a job would wait for the missing database."""
        for worker in self.workers:
            worker.process.terminate()
        for worker in self.workers:
            with contextlib.suppress(subprocess.TimeoutExpired):
                worker.process.wait(worker.patience)

    # --- restarts and outages ---

    def keep_up(self) -> None:
        for number, child in enumerate(self.workers):
            if child.ended():
                self.supervisor.children.remove(child)
                self.workers[number] = self._start_worker(number)
        if self.redis_child.ended():
            self.supervisor.children.remove(self.redis_child)
            folder = self.folder / "valkey"
            self.redis_child = self.supervisor.spawn("valkey", [valkey_server(), "valkey.conf"], cwd=folder)

    def go_on_until(self, moment: float) -> None:
        """Wait until `moment` (in seconds since 1970), and restart processes that die meanwhile."""
        while time.time() < moment:
            self.keep_up()
            time.sleep(0.1)

    def go_on(self, seconds: float) -> None:
        self.go_on_until(time.time() + seconds)

    @property
    def first_due(self) -> float:
        """Return the due time of the round's first reminder, in seconds since 1970."""
        return min(self.due.values()).timestamp()

    @property
    def last_due(self) -> float:
        return max(self.due.values()).timestamp()

    @contextlib.contextmanager
    def without(self, server: str, how: str) -> Iterator[None]:
        """Stop or freeze a server ("redis" or "postgres") during the block. `how` is "stopped" or "frozen"."""
        child = self.redis_child if server == "redis" else self.postgres.child
        if how == "frozen":
            with frozen(child.process.pid):
                yield
        elif server == "redis":
            child.process.kill()
            child.process.wait()
            yield
            self.keep_up()
        else:
            child.process.send_signal(signal.SIGINT)
            child.process.wait()
            self.supervisor.children.remove(child)
            yield
            self.postgres = start_postgres(self.supervisor, self.folder / "postgres")

    # --- results ---

    def finish(self) -> ExperimentOutcome:
        """Wait until no delivery is open, or until `SETTLE_S` seconds after the last due time. Return the outcome."""
        while time.time() < self.last_due + SETTLE_S and not (time.time() > self.last_due + 1 and self._is_settled()):
            self.keep_up()
            time.sleep(0.3)
        return self._judge()

    def arrived(self) -> set[str]:
        """Return the names of reminders that have arrived both as a message and as a push."""
        outcome = ExperimentOutcome(self.plan)
        self._count_arrivals(outcome)
        return outcome.arrived.keys() & outcome.pushes.keys()

    def all_have_arrived(self) -> bool:
        """Return whether each reminder has arrived both as a message and as a push."""
        outcome = ExperimentOutcome(self.plan)
        self._count_arrivals(outcome)
        return outcome.lost == outcome.lost_pushes == 0

    @contextlib.contextmanager
    def database(self) -> Iterator[Any]:
        """Yield a database cursor on a new connection, independent of the application's connections."""
        with (
            contextlib.closing(psycopg2.connect(self.settings["DATABASE_URL"])) as connection,
            connection.cursor() as cursor,
        ):
            yield cursor

    def figure(self, query: str, *values: object) -> int:
        with self.database() as cursor:
            cursor.execute(query, values or None)  # without values, a percent sign in the query is a plain character
            (number,) = cursor.fetchone()
            return int(number)

    def _is_settled(self) -> bool:
        try:
            return self.figure(OPEN) == 0
        except psycopg2.Error:
            return False

    def _judge(self) -> ExperimentOutcome:
        self._count_arrivals(self.outcome)
        self.outcome.unsettled = self.figure(OPEN)
        self.outcome.unknown = self.figure(UNKNOWN, self.people)
        self.leave_database()
        return self.outcome

    def leave_database(self) -> None:
        """Close the application's connections, because the server is about to end."""
        with self.app.app_context():
            db.engine.dispose()

    def _count_arrivals(self, outcome: ExperimentOutcome) -> None:
        """Count the messages and pushes of this round's reminders, for the outcome."""
        for name, at in self.reminded():
            outcome.arrived[name] += 1
            outcome.late_s.setdefault(name, at - self.due[name].timestamp())
        for sent in list(self.sim.push.messages):
            outcome.pushes.update(self._reminded_of(sent.text or ""))

    def reminded(self) -> Iterator[tuple[str, float]]:
        """Yield the name of a reminder and the time (in seconds since 1970) for each message of this round."""
        for message in list(self.sim.messaging.sent):
            for name in self._reminded_of(message.text):
                yield name, message.at

    def _reminded_of(self, text: str) -> set[str]:
        """Return the names of this round's reminders that a message or a push contains."""
        return self.due.keys() & set(re.findall(r"pengingat-\d+-\d+", text))


@contextlib.contextmanager
def opened(plan: ExperimentPlan, *, worker: str = "worker.Worker") -> Iterator[World]:
    """Yield a world whose workers do not run yet. End all its processes after the block."""
    with tempfile.TemporaryDirectory(prefix="chaos-") as name, simulators() as sim:
        folder = Path(name)
        folder.chmod(0o711)  # if the user is root, PostgreSQL runs as nobody, who must be able to enter the folder
        with Supervisor(folder / "logs", register=folder / "processes") as supervisor:
            world = World(plan, folder, supervisor, sim, worker)
            yield world
            world.end_workers()
