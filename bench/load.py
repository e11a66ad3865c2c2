"""`make load`: mixed traffic through nginx and the whole service, and a table of response times and errors.

80 % of the requests are reads, 15 % are writes and 5 % are logins. The rate is constant. The requests use the people,
threads and facilities of the demo data. Run `python -m bench.load [minutes, 3] [requests a second, 60]`.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import quantiles
from typing import ClassVar
from urllib.parse import urlsplit

import psutil
import requests
from redis import Redis
from rq import Worker

from app.core.database.session import unit_of_work
from app.core.jobs.queue import QUEUES
from bench.environment import environment
from dev import demo
from dev.demo.people import PASSWORD, PATIENTS
from dev.simulators import simulators
from dev.stack.site import DeployedStack
from dev.system_packages import require

CLIENTS = 24
LOOKS = 12

READS: tuple[tuple[str, bool], ...] = (
    ("/forum/threads", True),
    ("/forum/threads?page=1&per_page=20", False),
    ("/forum/categories", False),
    ("/faskes/nearby?lat=-6.88&lng=107.55", False),
    ("/dokter/nearby?lat=-6.88&lng=107.55", False),
    ("/emergency/nearby?lat=-6.88&lng=107.55", False),
    ("/articles/all", False),
    ("/videoplatform/videos", False),
    ("/komunitas/", False),
    ("/pengingat/", True),
    ("/pengingat/riwayat", True),
    ("/pengingat/kepatuhan", True),
    ("/pengiriman", True),
    ("/patient/caregivers", True),
    ("/profile", True),
    ("/profile/notifikasi", True),
    ("/features", False),
)


@dataclass
class Seen:
    """Responses that all threads have received since the last report."""

    seconds: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, seconds: float, error: str | None) -> None:
        with self.lock:
            self.seconds.append(seconds)
            if error:
                self.errors[error] += 1

    def take(self) -> tuple[list[float], Counter[str]]:
        with self.lock:
            sample = self.seconds, self.errors
            self.seconds, self.errors = [], Counter()
            return sample


class SimulatedUser:
    """One simulated person, who keeps a connection and a login like a browser."""

    def __init__(self, site: DeployedStack, seed: int) -> None:
        self.site = site
        self.username = PATIENTS[seed % len(PATIENTS)]
        self.random = random.Random(seed)
        self.session = requests.Session()
        self.session.trust_env = False
        self.session.verify = str(site.certificate)
        self.token = self._login().json()["access_token"]
        self.threads = [row["id"] for row in self._ask("GET", "/forum/threads").json()]
        soon = datetime.now(UTC) + timedelta(minutes=45)  # people can answer a dose an hour before it is due
        jadwal = [{"jam": f"{soon:%H:%M}", "jumlah": 1, "satuan": "tablet"}]
        details = {"nama_obat": "Metformin", "frekuensi": 1, "aturan": "setelah makan", "jadwal": jadwal}
        dose = self._ask("POST", "/pengingat/obat", signed_in=True, json={"judul": "Obat", "details": details})
        self.reminder = dose.json()["id"]

    def act(self) -> str | None:
        """Send one random request. Return its error, or None."""
        lot = self.random.randrange(100)
        if lot < 5:
            answer = self._login()
            self.token = answer.json().get("access_token", self.token)
        elif lot < 20:
            answer = self.random.choice(self._writes())()
        else:
            path, signed_in = self.random.choice(READS)
            answer = self._ask("GET", path, signed_in=signed_in)
        return None if answer.status_code < 400 else _named(answer)

    def _writes(self) -> list[Callable[[], requests.Response]]:
        thread = self.random.choice(self.threads)
        log = {"event_type": "view", "event_name": "buka_forum", "screen_name": "Forum", "session_id": "s-1"}
        answer = {"status": self.random.choice(("done", "skipped"))}
        return [
            *[lambda: self._ask("POST", "/log/user-log", json=log)] * 3,
            lambda: self._ask("POST", f"/forum/threads/{thread}/like", signed_in=True),
            lambda: self._ask("POST", f"/forum/threads/{thread}/save", signed_in=True),
            *[lambda: self._ask("POST", f"/pengingat/{self.reminder}/konfirmasi", signed_in=True, json=answer)] * 2,
        ]

    def _login(self) -> requests.Response:
        return self._ask("POST", "/login", json={"username": self.username, "password": PASSWORD})

    def _ask(self, method: str, path: str, *, signed_in: bool = False, json: object = None) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.token}"} if signed_in else {}
        return self.session.request(method, self.site.url + path, headers=headers, json=json, timeout=20)


def _named(answer: requests.Response) -> str:
    """Return a failed request and its error, such as `POST /api/login: 503 service_unavailable, Silakan …`."""
    path = re.sub(r"\d+", "<id>", urlsplit(answer.url).path)
    try:
        told = ", ".join(str(answer.json()[name]) for name in ("error", "message"))
    except (ValueError, KeyError, TypeError):
        told = answer.text[:80]  # an HTML error page of nginx
    return f"{answer.request.method} {path}: {answer.status_code} {told}"


class OneAddress(DeployedStack):
    """The deployed site with a higher rate limit for logins, because all clients here have the same address."""

    changes: ClassVar[dict[str, str]] = {"rate=120r/m": "rate=60000r/m"}

    def is_ready(self) -> bool:
        """Return whether the site and its workers are ready.

        Otherwise the start of the workers would slow down the first requests.
        """
        return super().is_ready() and Worker.count(connection=Redis.from_url(self.env["REDIS_URL"])) == len(QUEUES)


def drive(site: DeployedStack, seen: Seen, rate: float, end: float) -> None:
    """Run `CLIENTS` simulated people until the monotonic time `end`. Together they send `rate` requests a second."""
    people = [SimulatedUser(site, seed) for seed in range(CLIENTS)]

    def live(person: SimulatedUser, first: float) -> None:
        due = first
        while due < end:
            time.sleep(max(0.0, due - time.monotonic()))
            try:
                error = person.act()
            except requests.RequestException as failed:
                error = type(failed).__name__
            # Measure the response time from the planned time of the request. Otherwise a slow service would get fewer
            # requests and better figures.
            seen.add(time.monotonic() - due, error)
            due += CLIENTS / rate

    start = time.monotonic()
    threads = [
        threading.Thread(target=live, args=(person, start + number / rate)) for number, person in enumerate(people)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def memory_mib(site: DeployedStack) -> float:
    """Return the memory of web and worker processes without shared pages, in MiB."""
    total = 0
    for process in site.processes:
        for each in (root := psutil.Process(process.pid), *root.children(recursive=True)):
            try:
                total += each.memory_full_info().uss if "python" in each.name() or "gunicorn" in each.name() else 0
            except psutil.NoSuchProcess:
                continue
    return total / 2**20


def main(minutes: float = 3, rate: float = 60) -> int:
    require("nginx")
    seen, bad = Seen(), Counter[str]()
    with simulators() as outside, environment(outside.env) as bench, tempfile.TemporaryDirectory() as folder:
        with bench.app.app_context(), unit_of_work():
            demo.fill()
        with OneAddress({**bench.env, "FRONTEND_URL": "https://app.example.org"}, Path(folder)) as site:
            end = time.monotonic() + minutes * 60
            driver = threading.Thread(target=drive, args=(site, seen, rate, end))
            driver.start()
            print(f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {psutil.cpu_count()} cores, {rate:g} requests a second")
            print("minute   req/s    p50 ms    p99 ms   errors   memory MiB   machine busy %")
            began = time.monotonic()
            psutil.cpu_percent()
            while driver.is_alive():
                driver.join(minutes * 60 / LOOKS)
                seconds, errors = seen.take()
                bad += errors
                if len(seconds) > 1:
                    cuts = quantiles(seconds, n=100)
                    past = time.monotonic() - began
                    print(
                        f"{past / 60:6.1f} {len(seconds) / (minutes * 60 / LOOKS):7.1f} {cuts[49] * 1000:9.1f}"
                        f" {cuts[98] * 1000:9.1f} {errors.total():8d} {memory_mib(site):12.1f}"
                        f" {psutil.cpu_percent():16.0f}",
                        flush=True,
                    )
    print("\n".join(["errors:", *(f"{n:6d}  {what}" for what, n in bad.most_common())]) if bad else "errors: none")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*map(float, sys.argv[1:])))
