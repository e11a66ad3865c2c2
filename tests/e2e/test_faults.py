"""PostgreSQL, Redis and the disk fail under light load: clear answers at once, nothing lost, back within a second."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import psycopg2
import pytest
import requests
from PIL import Image

from dev.family import Family
from dev.servers import Postgres, Valkey, start_postgres, start_valkey, valkey_server
from tests.e2e.stack import Stack

pytestmark = pytest.mark.serial

OUTAGE_S = 3.0

#: Smaller than the picture of the test, larger than the logs and metrics that the web process writes.
SMALL_FILE = 512 * 1024


@dataclass
class Answers:
    """What one kind of request got, in the order of asking: when, after how many seconds, which status."""

    seen: list[tuple[float, float, int]] = field(default_factory=list)
    retry_after: set[str | None] = field(default_factory=set)

    def during(self, start: float, end: float) -> list[tuple[float, float, int]]:
        return [one for one in self.seen if start <= one[0] < end]


class Load:
    """Somebody who reads and somebody who logs, over and over while the block lasts."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.reads, self.logs = Answers(), Answers()
        self._done = threading.Event()
        self._threads = [
            threading.Thread(target=self._ask, args=(self.reads, "GET", "/kategori")),
            threading.Thread(target=self._ask, args=(self.logs, "POST", "/log/user-log"), kwargs={"json": {"a": 1}}),
        ]

    def _ask(self, answers: Answers, method: str, path: str, **options: Any) -> None:
        while not self._done.is_set():
            asked = time.monotonic()
            response = self.stack.call(method, path, **options)
            answers.seen.append((asked, time.monotonic() - asked, response.status_code))
            if response.status_code == 503:
                answers.retry_after.add(response.headers.get("Retry-After"))
            time.sleep(0.02)

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        time.sleep(0.5)
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        for thread in self._threads:
            thread.join(30)


@dataclass
class House:
    """A stack on servers of its own, which may be hurt."""

    family: Family
    postgres: Postgres
    valkey: Valkey
    stack: Stack

    def logged(self) -> int:
        with contextlib.closing(psycopg2.connect(self.postgres.url())) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM activity_logs")
            (count,) = cursor.fetchone() or (0,)
            return int(count)

    def restart_valkey(self) -> None:
        """On the same port and folder, with what its append-only file holds."""
        folder = self.valkey.child.log.parent.parent / "valkey"
        child = self.family.spawn("valkey", [valkey_server(), "valkey.conf"], cwd=folder)
        self.valkey = Valkey(child, self.valkey.url)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("house")
    for parent in (folder, *folder.parents[:2]):
        parent.chmod(0o711)  # when we are root, PostgreSQL is not, and has to get in
    with Family(folder / "logs") as family:
        postgres = start_postgres(family, folder / "postgres", durable=False)
        valkey = start_valkey(family, folder / "valkey")
        env = {"DATABASE_URL": postgres.url(), "REDIS_URL": valkey.url, "RATE_LIMITS": "off"}
        stack = Stack(env, folder)
        stack.flask("db", "upgrade")
        stack.flask("seed")
        with stack:
            yield House(family, postgres, valkey, stack)


@contextlib.contextmanager
def frozen(pid: int) -> Iterator[None]:
    """Every process of a server stands still, and its connections stay open."""
    leader = psutil.Process(pid)
    processes = [leader, *leader.children(recursive=True)]
    for process in processes:
        os.kill(process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in reversed(processes):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGCONT)


def eventually(condition: Callable[[], bool], seconds: float = 20) -> bool:
    stop = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > stop:
            return False
        time.sleep(0.1)
    return True


def accepted(answers: Answers) -> int:
    return sum(status == 202 for _, _, status in answers.seen)


def test_postgresql_stopped_is_503_at_once_and_back_within_a_second(house: House) -> None:
    before = house.logged()
    data = Path(house.postgres.sockets)
    with Load(house.stack) as load:
        house.postgres.child.process.send_signal(signal.SIGINT)
        house.postgres.child.process.wait(20)
        house.family.children.remove(house.postgres.child)
        down = time.monotonic()
        time.sleep(OUTAGE_S)
        ready = time.monotonic()
        house.postgres = start_postgres(house.family, data, durable=False)
        up = time.monotonic()
        time.sleep(2)
    refused = load.reads.during(down, ready)
    assert refused
    assert {status for _, _, status in refused} == {503}
    assert load.reads.retry_after == {"5"}
    assert max(seconds for _, seconds, _ in refused) < 0.5
    assert {status for _, _, status in load.reads.during(up + 1, up + 9)} == {200}
    # A log needs no database to be accepted, and none is lost.
    assert eventually(lambda: house.logged() - before == accepted(load.logs)), (house.logged(), accepted(load.logs))


@pytest.mark.parametrize("how", ["stopped", "frozen"])
def test_without_redis_reads_and_logs_go_on(house: House, how: str) -> None:
    before = house.logged()
    child = house.valkey.child
    with Load(house.stack) as load:
        with frozen(child.process.pid) if how == "frozen" else contextlib.nullcontext():
            if how == "stopped":
                child.process.terminate()
                child.process.wait(20)
                house.family.children.remove(child)
            away = time.monotonic()
            time.sleep(OUTAGE_S)
            back = time.monotonic()
        if how == "stopped":
            house.restart_valkey()
        time.sleep(1)
    for answers, fine in ((load.reads, 200), (load.logs, 202)):
        met = answers.during(away, back)
        assert {status for _, _, status in met} == {fine}
        assert sorted(seconds for _, seconds, _ in met)[int(len(met) * 0.99) - 1] < 0.75
    assert eventually(lambda: house.logged() - before >= accepted(load.logs)), (house.logged(), accepted(load.logs))


def test_a_full_disk_refuses_pictures_and_nothing_else(house: House) -> None:
    person = {
        "username": "siti",
        "password": "rahasia123",
        "nama_ktp": "S",
        "nama_samaran": "M",
        "nomor_hp": "0812345678",
    }
    token = house.stack.call("POST", "/register", json=person).json()["access_token"]
    web = psutil.Process(house.stack.processes[0].pid).children()
    picture = io.BytesIO()
    Image.effect_noise((1500, 1500), 90).convert("RGB").save(picture, "JPEG", quality=95)
    category = house.stack.call("GET", "/forum/categories").json()[0]["id"]

    def post() -> requests.Response:
        form = {"category_id": category, "title": "Foto", "content": "Lihat.", "use_pseudonym": "false"}
        files = {"image": ("a.jpg", picture.getvalue())}
        return house.stack.call("POST", "/forum/threads", token, data=form, files=files)

    limits = {process: process.rlimit(psutil.RLIMIT_FSIZE) for process in web}
    for process, (_, hard) in limits.items():
        process.rlimit(psutil.RLIMIT_FSIZE, (SMALL_FILE, hard))
    try:
        refused = post()
        assert (refused.status_code, refused.json()["error"]) == (503, "service_unavailable")
        assert refused.headers["Retry-After"] == "5"
        assert house.stack.call("GET", "/forum/threads").json() == []
    finally:
        for process, limit in limits.items():
            process.rlimit(psutil.RLIMIT_FSIZE, limit)
    assert not [path for path in Path(house.stack.env["MEDIA_ROOT"]).rglob("*") if path.is_file()]
    fine = post()
    assert fine.status_code == 201
    image = house.stack.url.removesuffix("/api") + fine.json()["image"]
    assert requests.get(image, timeout=5).status_code == 200
