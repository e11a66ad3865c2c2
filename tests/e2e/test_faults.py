"""PostgreSQL, Redis and the disk fail under light load: clear answers at once, nothing lost, back within a second."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import requests
from PIL import Image

from app.core.database import watchdog
from dev.stack.outages import LOG, READ, IsolatedStack, Load
from dev.stack.waiting import eventually

pytestmark = pytest.mark.takes(seconds=35)

OUTAGE_S = 3.0

#: Until a database that hangs is known to.
NOTICED_S = watchdog.PATIENCE_S + watchdog.LOOK_EVERY_S + watchdog.LOGIN_S

#: Smaller than the picture of the test, larger than the logs and metrics that the web process writes.
SMALL_FILE = 512 * 1024


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IsolatedStack]:
    with IsolatedStack.opened(tmp_path_factory.mktemp("house")) as opened:
        yield opened


def all_logged(isolated: IsolatedStack, before: int, load: Load) -> bool:
    """Whether all logs that were accepted are in the table; no more of them, where none was cut off."""
    return eventually(lambda: isolated.logged() - before == load.answers["logs"].accepted)


def test_postgresql_stopped_is_503_at_once_and_back_within_a_second(isolated: IsolatedStack) -> None:
    before = isolated.logged()
    with Load(isolated.stack, {"reads": READ, "logs": LOG}) as load:
        with isolated.without_postgres("stopped"):
            down = time.monotonic()
            time.sleep(OUTAGE_S)
            ready = time.monotonic()
        up = time.monotonic()
        time.sleep(2)
    reads = load.answers["reads"]
    assert reads.statuses(down, ready) == {503}
    assert reads.retry_after == {"5"}
    assert max(seconds for _, seconds, _ in reads.during(down, ready)) < 0.5
    assert reads.statuses(up + 1, up + 9) == {200}
    # A log needs no database to be accepted, and none is lost.
    assert all_logged(isolated, before, load)


def test_postgresql_frozen_is_503_once_noticed_and_back_within_two_seconds(isolated: IsolatedStack) -> None:
    before = isolated.logged()
    with Load(isolated.stack, {"reads": READ, "logs": LOG}) as load:
        with isolated.without_postgres("frozen"):
            down = time.monotonic()
            time.sleep(NOTICED_S + OUTAGE_S / 2)
            ready = time.monotonic()
        time.sleep(3)
    reads = load.answers["reads"]
    waited = [seconds for _, seconds, status in reads.seen if status == 503]
    assert max(waited) < NOTICED_S + 0.5
    known = down + NOTICED_S + 0.5
    assert reads.statuses(known, ready) == {503}
    assert max(seconds for _, seconds, _ in reads.during(known, ready)) < 0.1
    assert reads.back_s(ready) < 2
    assert reads.statuses(ready + 2, ready + 9) == {200}
    assert load.answers["logs"].statuses(down, ready) == {202}
    assert all_logged(isolated, before, load)


@pytest.mark.parametrize("how", ["stopped", "frozen"])
def test_without_redis_reads_and_logs_go_on(isolated: IsolatedStack, how: str) -> None:
    before = isolated.logged()
    with Load(isolated.stack, {"reads": READ, "logs": LOG}) as load:
        with isolated.without_redis(how):
            away = time.monotonic()
            time.sleep(OUTAGE_S)
            back = time.monotonic()
        time.sleep(1)
    for name, fine in (("reads", 200), ("logs", 202)):
        assert load.answers[name].statuses(away, back) == {fine}
        assert load.answers[name].p99_s(away, back) < 0.75
    assert eventually(lambda: isolated.logged() - before >= load.answers["logs"].accepted)


def test_a_full_disk_refuses_pictures_and_nothing_else(isolated: IsolatedStack) -> None:
    person = {
        "username": "siti",
        "password": "rahasia123",
        "nama_ktp": "S",
        "nama_samaran": "M",
        "nomor_hp": "0812345678",
    }
    token = isolated.stack.call("POST", "/register", json=person).json()["access_token"]
    web = psutil.Process(isolated.stack.processes[0].pid).children()
    picture = io.BytesIO()
    Image.effect_noise((1500, 1500), 90).convert("RGB").save(picture, "JPEG", quality=95)
    category = isolated.stack.call("GET", "/forum/categories").json()[0]["id"]

    def post() -> requests.Response:
        form = {"category_id": category, "title": "Foto", "content": "Lihat.", "use_pseudonym": "false"}
        files = {"image": ("a.jpg", picture.getvalue())}
        return isolated.stack.call("POST", "/forum/threads", token, data=form, files=files)

    limits = {process: process.rlimit(psutil.RLIMIT_FSIZE) for process in web}
    for process, (_, hard) in limits.items():
        process.rlimit(psutil.RLIMIT_FSIZE, (SMALL_FILE, hard))
    try:
        refused = post()
        assert (refused.status_code, refused.json()["error"]) == (503, "service_unavailable")
        assert refused.headers["Retry-After"] == "5"
        assert isolated.stack.call("GET", "/forum/threads").json() == []
    finally:
        for process, limit in limits.items():
            process.rlimit(psutil.RLIMIT_FSIZE, limit)
    assert not [path for path in Path(isolated.stack.env["MEDIA_ROOT"]).rglob("*") if path.is_file()]
    fine = post()
    assert fine.status_code == 201
    image = isolated.stack.url.removesuffix("/api") + fine.json()["image"]
    assert requests.get(image, timeout=5).status_code == 200
