"""Tests in which PostgreSQL, Redis or the disk fail under light load.

The service must answer with quick errors, lose no data, and recover without help.
"""

import io
import time
from pathlib import Path

import psutil
import pytest
import requests
from PIL import Image

from dev.stack.outages import LOG, READ, IsolatedStack, Load
from dev.stack.site import DeployedStack
from dev.stack.waiting import PATIENCE_S, eventually, wait_until
from tests.e2e.walk import PERSON

pytestmark = [pytest.mark.takes(seconds=60), pytest.mark.processes]

#: Minimum number of responses of each kind during an outage.
SEEN = 60

#: Maximum median seconds of a response. A response that waited for a timeout takes at least one second.
AT_ONCE_S = 0.5

#: Maximum size of a file in bytes. The picture of the test is larger. The logs and metrics of gunicorn are smaller.
SMALL_FILE = 512 * 1024


@pytest.fixture(scope="module")
def isolated(tmp_path_factory):
    with IsolatedStack.opened(tmp_path_factory.mktemp("isolated")) as opened:
        yield opened


def through_outage(answers, outage, seen):
    """Wait for `seen` responses in the outage, and for good ones afterwards.

    Return the times at which the outage began, the server was back, and the first request succeeded.
    """
    with outage:
        down = time.monotonic()
        wait_until(lambda: len(answers.within(down)) >= seen)
        ready = time.monotonic()
    wait_until(lambda: 200 in answers.statuses(ready))
    back = answers.first(200, ready)
    wait_until(lambda: len(answers.within(back)) >= SEEN)
    return down, ready, back


def all_logged(isolated, before, load):
    """Wait until the table has a row for each accepted log record. Return False if this takes too long."""
    return eventually(lambda: isolated.logged() - before == load.answers["logs"].accepted)


def test_reads_get_a_quick_503_while_postgresql_is_stopped_and_then_recover(isolated):
    before = isolated.logged()
    with Load(isolated.stack, {"reads": READ, "logs": LOG}) as load:
        reads = load.answers["reads"]
        down, ready, back = through_outage(reads, isolated.without("postgres", "stopped"), SEEN)
    assert reads.statuses(down, ready) == {503}
    assert reads.retry_after == {"5"}
    assert reads.median_s(down, ready) < AT_ONCE_S
    assert reads.statuses(back) == {200}
    # The service accepts log requests without a database, and loses no log record.
    assert all_logged(isolated, before, load)


def test_uncached_reads_get_503_while_postgresql_is_frozen_and_then_recover(tmp_path):
    with IsolatedStack.opened(tmp_path, DeployedStack) as deployed:
        token = deployed.stack.call("POST", "/register", json=PERSON).json()["access_token"]
        before = deployed.logged()
        own = ("GET", "/pengingat", {"token": token})
        with Load(deployed.stack, {"own": own, "reads": READ, "logs": LOG}, pause_s=0.1) as load:
            own_answers = load.answers["own"]
            # Without nginx, the one response in the outage would wait until the database is back.
            down, ready, back = through_outage(own_answers, deployed.without("postgres", "frozen"), 1)
        assert own_answers.statuses(down, ready) == {503}
        assert own_answers.retry_after == {"5"}
        assert own_answers.statuses(back) == {200}
        assert load.answers["reads"].statuses(down) == {200}  # nginx answers from its cache
        assert load.answers["logs"].statuses(down, ready) == {202}
        assert all_logged(deployed, before, load)


@pytest.mark.parametrize("how", ["stopped", "frozen"])
def test_without_redis_reads_succeed_and_log_requests_get_a_quick_503(isolated, how):
    before = isolated.logged()
    kinds = {"reads": 200, "logs": 503}
    with Load(isolated.stack, {"reads": READ, "logs": LOG}) as load, isolated.without("redis", how):
        away = time.monotonic()
        wait_until(lambda: all(len(load.answers[name].within(away)) >= SEEN for name in kinds))
        back = time.monotonic()
    for name, status in kinds.items():
        assert load.answers[name].statuses(away, back) == {status}
        assert load.answers[name].median_s(away, back) < AT_ONCE_S
    assert eventually(lambda: isolated.logged() - before >= load.answers["logs"].accepted)


def test_an_upload_gets_503_and_leaves_no_file_while_the_disk_is_full(isolated):
    token = isolated.stack.call("POST", "/register", json=PERSON).json()["access_token"]
    web = psutil.Process(isolated.stack.processes[0].pid).children()
    picture = io.BytesIO()
    Image.effect_noise((1500, 1500), 90).convert("RGB").save(picture, "JPEG", quality=95)
    category = isolated.stack.call("GET", "/forum/categories").json()[0]["id"]

    def post():
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
    assert requests.get(image, timeout=PATIENCE_S).status_code == 200
