"""`make chaos`: reminders fall due while everything around them is killed at random; then nothing may be missing.

Workers, horses and clocks are killed by SIGKILL, Valkey is killed or emptied, PostgreSQL crashes. Everything that dies
is started again, as systemd would. Printed at the end: what was lost, sent twice, and how late the latest was.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
import psycopg2
import redis
import sqlalchemy as sa
from flask import Flask
from flask_migrate import upgrade

from app import create_app
from app.cli import seed_all
from app.core.database.session import db, unit_of_work
from app.identity import users
from app.pengingat import service
from app.pengingat.models import Pengingat
from app.pengingat.schemas import NewPengingat
from app.providers import vapid
from bench.outcome import Outcome, Plan
from config import ROOT, Config
from dev.servers import Postgres, Valkey, start_postgres, start_valkey
from dev.simulators import Server, simulators
from dev.stack.waiting import wait_until
from dev.supervisor import Child, Supervisor

QUEUES = ("urgent", "urgent", "bulk")
#: How often each fault comes, in parts of all.
FAULTS = {"horse": 30, "worker": 20, "clock": 18, "redis killed": 10, "redis emptied": 12, "postgres crash": 10}
#: Reminders of one person.
EACH = 40
#: From when a reminder is made until it is due, at least.
HEAD_START_S = 3.0
#: After the last reminder, until what is still open is taken for stuck: a claim whose worker died waits for its lease,
#: then there are retries, and a busy machine takes its time for each.
SETTLE_S = 300.0


class Chaos:
    """The servers, the workers, and the one who kills them."""

    def __init__(self, plan: Plan, folder: Path, supervisor: Supervisor, sim: Server) -> None:
        self.plan, self.folder, self.supervisor, self.sim = plan, folder, supervisor, sim
        self.random = random.Random(plan.seed)
        self.outcome = Outcome(plan)
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
        self.workers: list[Child] = []
        self.ids: list[int] = []
        self.rounds = 0
        self.deaths_before = 0
        self.due: dict[str, datetime] = {}

    # --- the world ---

    def prepare(self) -> None:
        """People with a telephone and a browser."""
        with self.app.app_context():
            upgrade()
            seed_all()
            with unit_of_work():
                people = [
                    users.create(
                        {
                            "username": f"chaos.{n}",
                            "password": "rahasia123",
                            "nama_ktp": f"Orang {n}",
                            "nomor_hp": f"0812{n:08d}",
                        },
                        ["pasien"],
                    )
                    for n in range(max(5, self.plan.reminders // EACH))
                ]
                self.ids = [user.id for user in people]
            self._subscribe()

    def _subscribe(self) -> None:
        from app.push import service as push

        for user_id in self.ids:
            browser = self.sim.push.subscribe(self.settings["VAPID_PUBLIC_KEY"])
            with unit_of_work():
                push.subscribe({**browser, "user_id": None}, caller_id=user_id)

    def remind(self) -> None:
        """Make the reminders of a round; what came of an earlier one is forgotten."""
        self.outcome = Outcome(self.plan)
        self.sim.messaging.sent.clear()
        self.sim.push.messages.clear()
        self.due.clear()
        self.rounds += 1
        self.deaths_before = self._deaths()
        head_start = timedelta(seconds=HEAD_START_S)
        start = datetime.now(UTC) + timedelta(seconds=self.plan.reminders / 50) + head_start
        offsets = sorted(self.random.uniform(0, self.plan.seconds) for _ in range(self.plan.reminders))
        with self.app.app_context():
            with unit_of_work():
                db.session.execute(sa.delete(Pengingat))
            for n, offset in enumerate(offsets):
                # Never due before it is there: a slow machine stretches the plan.
                due = max(start + timedelta(seconds=offset), datetime.now(UTC) + head_start)
                name = f"pengingat-{self.rounds}-{n:05d}"
                data: NewPengingat = {
                    "tipe": "terapi",
                    "judul": name,
                    "timezone": "Asia/Jakarta",
                    "details": {},
                    "waktu": due,
                }
                with unit_of_work():  # in turn: nobody may have more than so many on one day
                    service.create(self.ids[n % len(self.ids)], data)
                self.due[name] = due

    def start_workers(self) -> None:
        """Start them all, and wait until they work."""
        self.workers = [self._start_worker(n) for n in range(len(QUEUES))]
        with redis.Redis.from_url(self.settings["REDIS_URL"]) as connection:
            wait_until(lambda: connection.scard("rq:workers") == len(QUEUES))

    def _start_worker(self, number: int) -> Child:
        command = [sys.executable, "-m", "rq.cli", "worker", "-c", "worker", "-w", "worker.Worker", QUEUES[number]]
        return self.supervisor.spawn(f"worker-{number}", command, env={**os.environ, **self.settings}, cwd=ROOT)

    def end_workers(self) -> None:
        """Before their servers: a job that finds its database gone waits for it."""
        for worker in self.workers:
            worker.process.terminate()
        for worker in self.workers:
            with contextlib.suppress(subprocess.TimeoutExpired):
                worker.process.wait(worker.patience)

    def keep_up(self) -> None:
        """Start again what has died, as systemd would."""
        for number, child in enumerate(self.workers):
            if child.ended():
                self.supervisor.children.remove(child)
                self.workers[number] = self._start_worker(number)
        if self.redis_child.ended():
            self.supervisor.children.remove(self.redis_child)
            command = self.redis_child.process.args[5:]  # type: ignore[index]  # after the launcher's own words
            self.redis_child = self.supervisor.spawn("valkey", command, cwd=self.folder / "valkey")

    def start_postgres_again(self) -> None:
        self.postgres = start_postgres(self.supervisor, self.folder / "postgres")

    # --- the faults ---

    def run(self) -> Outcome:
        self.prepare()
        self.start_workers()
        self.remind()
        end = max(self.due.values()).timestamp()
        kinds = self._kinds()
        first = min(self.due.values()).timestamp()
        moments = sorted(self.random.uniform(first, end) for _ in kinds)
        for moment, kind in zip(moments, kinds, strict=True):
            while time.time() < moment:
                self.keep_up()
                time.sleep(0.1)
            # A horse that is too quick to be caught is made up for, so that there are as many faults as were asked for.
            done = next(fault for fault in (kind, "worker") if self._do(fault))
            self.outcome.faults[done] += 1
        return self.finish()

    def finish(self) -> Outcome:
        """Wait until nothing is left to do, or the time for it is up, and count."""
        end = max(self.due.values()).timestamp()
        while time.time() < end + SETTLE_S and not (time.time() > end + 1 and self._all_settled()):
            self.keep_up()
            time.sleep(0.3)
        return self._judge()

    def _kinds(self) -> list[str]:
        weights = list(FAULTS.values())
        first = list(FAULTS)[: self.plan.faults]  # each at least once
        rest = self.random.choices(list(FAULTS), weights, k=self.plan.faults - len(first))
        kinds = first + rest
        self.random.shuffle(kinds)
        return kinds

    def _do(self, kind: str) -> bool:
        faults: dict[str, Callable[[], bool]] = {
            "horse": lambda: self._kill_below(lambda pid, leader: os.getpgid(pid) == pid != leader),
            "clock": lambda: self._kill_below(lambda pid, leader: os.getpgid(pid) == leader),
            "worker": self._kill_worker,
            "redis killed": self._kill_redis,
            "redis emptied": self._empty_redis,
            "postgres crash": self._crash_postgres,
        }
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            return faults[kind]()
        return False

    def _kill_below(self, matches: Callable[[int, int], bool]) -> bool:
        """Kill a process that a worker has forked: a horse leads a group of its own, a clock stays in the worker's.

        A horse lives for milliseconds: it is waited for.
        """
        stop = time.monotonic() + 2
        while time.monotonic() < stop:
            for worker in self.random.sample(self.workers, len(self.workers)):
                leader = worker.process.pid
                with contextlib.suppress(psutil.Error, ProcessLookupError):
                    for child in psutil.Process(leader).children(recursive=True):
                        if matches(child.pid, os.getpgid(leader)) and "rq" in " ".join(child.cmdline()):
                            child.kill()
                            return True
            time.sleep(0.003)
        return False

    def _kill_worker(self) -> bool:
        worker = self.random.choice(self.workers)
        worker.process.kill()
        return True

    def _kill_redis(self) -> bool:
        self.redis_child.process.kill()
        self.redis_child.process.wait()
        return True

    def _empty_redis(self) -> bool:
        try:
            redis.Redis.from_url(self.settings["REDIS_URL"]).flushall()
        except redis.RedisError:
            return False
        return True

    def _crash_postgres(self) -> bool:
        """Kill one backend: the server ends all the others at once and recovers from its log, as after any crash."""
        for process in psutil.process_iter(["cmdline"]):
            words = " ".join(process.info["cmdline"] or [])
            if words.startswith("postgres: ") and "[local]" in words and process.ppid() == self._postmaster():
                process.kill()
                return True
        return False

    def _postmaster(self) -> int:
        return int((self.folder / "postgres" / "postmaster.pid").read_text().splitlines()[0])

    # --- the verdict ---

    def all_have_arrived(self) -> bool:
        """Whether each reminder has reached the phone and the browser."""
        messages = {_name(message.text) for message in list(self.sim.messaging.sent)}
        pushes = {_name(push.text or "") for push in list(self.sim.push.messages)}
        return len(messages) == len(pushes) == self.plan.reminders

    def _all_settled(self) -> bool:
        try:
            with self._database() as cursor:
                cursor.execute("SELECT count(*) FROM deliveries WHERE state IN ('pending', 'claimed')")
                return bool(cursor.fetchone() == (0,))
        except psycopg2.Error:
            return False

    @contextlib.contextmanager
    def _database(self) -> Iterator[Any]:
        with (
            contextlib.closing(psycopg2.connect(self.settings["DATABASE_URL"])) as connection,
            connection.cursor() as cursor,
        ):
            yield cursor

    def _deaths(self) -> int:
        """Messages whose sender died over them."""
        with self._database() as cursor:
            cursor.execute("SELECT coalesce(sum(deaths), 0)::int FROM deliveries WHERE channel = 'messaging'")
            (deaths,) = cursor.fetchone()
            return int(deaths)

    def _judge(self) -> Outcome:
        outcome = self.outcome
        for message in self.sim.messaging.sent:
            name = _name(message.text)
            outcome.arrived[name] += 1
            outcome.late_s.setdefault(name, message.at - self.due[name].timestamp())
        for push in self.sim.push.messages:
            outcome.pushes[_name(push.text or "")] += 1
        with self._database() as cursor:
            cursor.execute("SELECT count(*) FROM deliveries WHERE state IN ('pending', 'claimed')")
            (outcome.unsettled,) = cursor.fetchone()
        outcome.deaths = self._deaths() - self.deaths_before
        with self.app.app_context():
            db.engine.dispose()
            self.app.extensions["autocommit"].dispose()
        return outcome


def _name(text: str) -> str:
    """The reminder that a message or a push is about."""
    return next(word for word in text.split() if word.startswith("pengingat-"))


def run(plan: Plan) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="chaos-") as name, simulators() as sim:
        folder = Path(name)
        folder.chmod(0o711)  # when we are root, PostgreSQL is not, and has to get in
        with Supervisor(folder / "logs", register=folder / "processes") as supervisor:
            world = Chaos(plan, folder, supervisor, sim)
            outcome = world.run()
            world.end_workers()
            return outcome


def main() -> int:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    for name, kind in (("reminders", int), ("seconds", float), ("faults", int), ("seed", int)):
        parser.add_argument(f"--{name}", type=kind, default=getattr(Plan, name))
    plan = Plan(**vars(parser.parse_args()))
    print(f"{plan.reminders} reminders within {plan.seconds:.0f} s, {plan.faults} faults, seed {plan.seed} ...")
    outcome = run(plan)
    print(outcome.table())
    return 0 if outcome.holds else 1


if __name__ == "__main__":
    sys.exit(main())
