"""`make load`: mixed traffic through nginx and the whole service, and its response times, errors and memory.

80 % of the requests are reads, 15 % are writes and 5 % are logins. The rate is constant. The requests use the people,
threads and facilities of the demo data. Run `python -m bench.load [minutes, 3] [requests a second, 60]`.
"""

from __future__ import annotations

import itertools
import random
import re
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import quantiles
from typing import ClassVar

import psutil
import requests

from app.core.database.session import unit_of_work
from bench.environment import Result, at_most, environment, print_table
from dev import demo
from dev.demo.people import PASSWORD, PATIENTS
from dev.simulators import simulators
from dev.stack.site import DeployedStack
from dev.system_packages import require

CLIENTS = 24

#: Paths that are read without a token and with one.
PUBLIC = (
    "/forum/threads?page=1&per_page=20",
    "/faskes/nearby?lat=-6.88&lng=107.55",
    "/emergency/nearby?lat=-6.88&lng=107.55",
    "/articles/all",
    "/komunitas/",
)
PERSONAL = ("/forum/threads", "/pengingat/", "/pengingat/riwayat", "/pengingat/kepatuhan", "/pengiriman", "/profile")


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

    def act(self) -> requests.Response:
        """Send one random request."""
        lot = self.random.randrange(100)
        if lot < 5:
            answer = self._login()
            self.token = answer.json().get("access_token", self.token)
            return answer
        if lot < 20:
            return self._write()
        if lot < 60:
            return self._ask("GET", self.random.choice(PUBLIC))
        return self._ask("GET", self.random.choice(PERSONAL), signed_in=True)

    def _write(self) -> requests.Response:
        match self.random.choice(("log", "log", "log", "like", "save", "answer", "answer")):
            case "log":
                return self._ask("POST", "/log/user-log", json={"event_type": "view", "event_name": "buka_forum"})
            case "answer":
                answer = {"status": self.random.choice(("done", "skipped"))}
                return self._ask("POST", f"/pengingat/{self.reminder}/konfirmasi", signed_in=True, json=answer)
            case toggle:
                return self._ask("POST", f"/forum/threads/{self.random.choice(self.threads)}/{toggle}", signed_in=True)

    def _login(self) -> requests.Response:
        return self._ask("POST", "/login", json={"username": self.username, "password": PASSWORD})

    def _ask(self, method: str, path: str, *, signed_in: bool = False, json: object = None) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.token}"} if signed_in else {}
        return self.session.request(method, self.site.url + path, headers=headers, json=json, timeout=20)

    def live(self, due: float, end: float, pause: float) -> tuple[list[float], list[str]]:
        """Send a request every `pause` seconds from `due` to `end`. Return the response times and the errors."""
        seconds, errors = [], []
        while due < end:
            time.sleep(max(0.0, due - time.monotonic()))
            try:
                answer = self.act()
                if answer.status_code >= 400:
                    path = re.sub(r"\d+", "<id>", answer.request.path_url)
                    errors.append(f"{answer.request.method} {path}: {answer.status_code} {answer.text[:200]}")
            except requests.RequestException as failed:
                errors.append(type(failed).__name__)
            # Measure the response time from the planned time of the request. Otherwise a slow service would get fewer
            # requests and better figures.
            seconds.append(time.monotonic() - due)
            due += pause
        return seconds, errors


class OneAddress(DeployedStack):
    """The deployed site with a higher rate limit for logins, because all clients here have the same address."""

    changes: ClassVar[dict[str, str]] = {"rate=120r/m": "rate=60000r/m"}


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
    with simulators() as outside, environment(outside.env) as bench, tempfile.TemporaryDirectory() as folder:
        with bench.app.app_context(), unit_of_work():
            demo.fill()
        with (
            OneAddress({**bench.env, "FRONTEND_URL": "https://app.example.org"}, Path(folder)) as site,
            ThreadPoolExecutor(CLIENTS) as pool,
        ):
            people = [SimulatedUser(site, seed) for seed in range(CLIENTS)]
            start = time.monotonic()
            end = start + minutes * 60
            lives = [
                pool.submit(person.live, start + number / rate, end, CLIENTS / rate)
                for number, person in enumerate(people)
            ]
            time.sleep(minutes * 60 / 4)  # until every process has served all kinds of requests
            before = memory_mib(site)
            seconds, errors = zip(*(life.result() for life in lives), strict=True)
            grown = memory_mib(site) - before
    cuts = quantiles(itertools.chain(*seconds), n=100)
    bad = Counter(itertools.chain(*errors))
    for error, count in bad.most_common():
        print(f"{count:6d}  {error}")
    results = [
        at_most(f"{rate:g} requests a second for {minutes:g} minutes: errors", bad.total(), 0, "requests"),
        at_most("p50", cuts[49] * 1000, 10, "ms"),
        Result("p99", "none", f"{cuts[98] * 1000:.0f} ms", holds=True),
        at_most("memory of web and worker processes grows by", grown, 32, "MiB"),
    ]
    print_table(results)
    return 0 if all(result.holds for result in results) else 1


if __name__ == "__main__":
    sys.exit(main(*map(float, sys.argv[1:])))
