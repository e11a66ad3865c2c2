"""Servers, workers and people of a chaos experiment (one module of `bench.chaos`).

A worker that dies is restarted, as systemd does.
"""

from __future__ import annotations

import contextlib
import random
import re
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple, Self

import psycopg2
import redis

from app import create_app
from app.core.database.session import db, unit_of_work
from app.identity import sessions, users
from app.pengingat import service
from app.providers import vapid
from app.push import service as push
from bench.chaos.outcome import ExperimentOutcome, ExperimentPlan
from config import Config
from dev.simulators import Server, simulators
from dev.stack.outages import IsolatedStack
from dev.stack.processes import Stack
from dev.stack.waiting import wait_until

#: Maximum number of reminders of one person.
EACH = 40
#: Minimum time from the creation of a reminder to its due time.
HEAD_START = timedelta(seconds=3)
#: Maximum seconds to wait after the due time of the last reminder. A delivery that is still open after this time counts
#: as stuck. If a worker dies, its deliveries are retried after their lease (time limit). On a busy machine the retries
#: take longer.
SETTLE_S = 300.0

OPEN = """
SELECT count(*) FROM deliveries
WHERE state IN ('pending', 'claimed') AND due_at < now() + interval '5 minutes' AND user_id = ANY(%s)
"""
#: Query for the titles of the reminders in messages with an unknown outcome. A message names all reminders of a person
#: that are due in the same second.
UNKNOWN = """
SELECT DISTINCT r.judul
FROM deliveries d JOIN occurrences o ON o.id = ANY(d.said) JOIN reminders r ON r.id = o.reminder_id
WHERE d.channel = 'messaging' AND d.unknowns > 0 AND d.user_id = ANY(%s)
"""

#: The queue of each worker.
QUEUES = ("urgent", "urgent", "bulk")


class Workers(Stack):
    """A stack without gunicorn. `World.start_workers` starts its workers."""

    def start(self) -> None:
        """Start no process."""

    def is_ready(self) -> bool:
        return True


class Reminder(NamedTuple):
    id: int
    user_id: int
    #: Due time in seconds since 1970.
    due: float


class World:
    """Servers, workers and people of a chaos experiment, and their reminders."""

    def __init__(self, plan: ExperimentPlan, isolated: IsolatedStack, sim: Server) -> None:
        self.plan, self.isolated, self.sim = plan, isolated, sim
        self.stack = isolated.stack
        self.random = random.Random(1)
        self.app = create_app(Config.from_env(self.stack.env))
        self._rounds = 0
        #: Reminders of this round, by title.
        self.reminders: dict[str, Reminder] = {}

    @classmethod
    @contextlib.contextmanager
    def opened(cls, plan: ExperimentPlan, kind: type[Stack] = Workers) -> Iterator[Self]:
        """Yield a world whose workers do not run yet. End all its processes after the block."""
        _, private = vapid.new_keys()
        with tempfile.TemporaryDirectory(prefix="chaos-") as name, simulators() as sim:
            settings = {"VAPID_PRIVATE_KEY": private, **sim.messaging.env()}
            with IsolatedStack.opened(Path(name), kind, durable=True, **settings) as isolated:
                yield cls(plan, isolated, sim)

    # --- people and their reminders ---

    def remind(self) -> None:
        """Create new people and the reminders of a round. Forget the reminders of the earlier round."""
        self._rounds += 1
        self.reminders.clear()
        with self.app.app_context():
            people = [self._new_person(number) for number in range(1 + self.plan.reminders // EACH)]
            start = datetime.now(UTC) + timedelta(seconds=self.plan.reminders / 50) + HEAD_START
            offsets = sorted(self.random.uniform(0, self.plan.seconds) for _ in range(self.plan.reminders))
            for n, offset in enumerate(offsets):
                # On a slow machine, use a later due time, so that each reminder exists before its due time.
                due = max(start + timedelta(seconds=offset), datetime.now(UTC) + HEAD_START)
                title, user_id = f"pengingat-{self._rounds}-{n:05d}", people[n % len(people)]
                with unit_of_work():
                    made = service.create(
                        user_id,
                        {"tipe": "terapi", "judul": title, "timezone": "Asia/Jakarta", "details": {}, "waktu": due},
                    )
                    self.reminders[title] = Reminder(made.id, user_id, due.timestamp())
            db.engine.dispose()  # an outage of the server would break these connections

    def _new_person(self, number: int) -> int:
        """Create a person with a phone and a browser, and return the person's id."""
        name, phone = f"chaos.{self._rounds}.{number}", f"0812{self._rounds:02d}{number:06d}"
        with unit_of_work():
            person = users.create(
                {"username": name, "password": "rahasia123", "nama_ktp": name, "nomor_hp": phone}, ["pasien"]
            )
            user_id, token = person.id, sessions.begin(person).access_token
        caller = sessions.get_caller(token)
        with unit_of_work():
            push.subscribe({**self.sim.push.subscribe(), "user_id": None}, caller)
        return user_id

    @property
    def first_due(self) -> float:
        """Return the due time of the round's first reminder, in seconds since 1970."""
        return min(reminder.due for reminder in self.reminders.values())

    @property
    def last_due(self) -> float:
        return max(reminder.due for reminder in self.reminders.values())

    # --- workers ---

    def start_workers(self) -> None:
        """Start all workers, and wait until RQ has registered them."""
        for queue in QUEUES:
            self.stack.start_worker(queue)
        with redis.Redis.from_url(self.isolated.valkey.url) as connection:
            wait_until(lambda: connection.scard("rq:workers") == len(QUEUES))

    def keep_up(self) -> None:
        """Restart the workers that have died."""
        for process in list(self.stack.processes):
            if process.poll() is not None:
                self.stack.processes.remove(process)
                self.stack.spawn(*process.args)

    def go_on_until(self, moment: float) -> None:
        """Wait until `moment` (in seconds since 1970), and restart workers that die meanwhile."""
        while time.time() < moment:
            self.keep_up()
            time.sleep(0.1)

    def go_on(self, seconds: float) -> None:
        self.go_on_until(time.time() + seconds)

    # --- results ---

    def finish(self) -> ExperimentOutcome:
        """Wait until no delivery is open, or until `SETTLE_S` seconds after the last due time. Return the outcome."""
        self.go_on_until(self.last_due + 1)
        while self._count_open() and time.time() < self.last_due + SETTLE_S:
            self.go_on(0.3)
        outcome = self.count()
        outcome.left_open = self._count_open()
        outcome.unknown = {title for (title,) in self.isolated.rows(UNKNOWN, self._user_ids())}
        return outcome

    def count(self) -> ExperimentOutcome:
        """Count the messages and pushes of this round's reminders that have arrived."""
        outcome = ExperimentOutcome({title: reminder.due for title, reminder in self.reminders.items()})
        for message in list(self.sim.messaging.sent):
            for title in self._titles(message.text):
                outcome.messages[title].append(message.at)
        for sent in list(self.sim.push.messages):
            outcome.pushed |= self._titles(sent.text or "")
        return outcome

    def _titles(self, text: str) -> set[str]:
        """Return the titles of this round's reminders that a message or a push contains."""
        return self.reminders.keys() & set(re.findall(r"pengingat-\d+-\d+", text))

    def _user_ids(self) -> list[int]:
        return [reminder.user_id for reminder in self.reminders.values()]

    def _count_open(self) -> int:
        try:
            return self.isolated.count(OPEN, self._user_ids())
        except psycopg2.Error:  # PostgreSQL recovers from a crash
            return 1
