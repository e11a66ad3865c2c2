"""Rate limits: counts in Redis, and counts in the process while Redis is unavailable.

Each application has its own counts.
"""

import socket
import time
from contextlib import suppress
from itertools import count
from math import inf
from types import SimpleNamespace

import pytest
from limits import parse
from psycopg2.errors import DeadlockDetected
from sqlalchemy.exc import OperationalError

from app import create_app
from app.accounts import service as accounts
from app.core.errors import NotFound, TooManyRequests
from app.core.jobs.redis import WEB, connect
from app.core.web.rate_limits import AWAY_S, RateLimits, limit
from tests.helpers.apps import config_for_tests
from tests.helpers.client import assert_error

REFRESH = {"refresh_token": "x"}
#: Redis key of the limit. It must not change, because processes of two versions share it during a rollout.
REFRESH_KEY = "LIMITS:LIMITER/limit/127.0.0.1/accounts.refresh/120/1/minute"
TWICE = parse("2 per minute")


@pytest.fixture
def clock(monkeypatch):
    """Return the replacement for `monotonic` in `app.core.web.rate_limits`. Tests set its time `now`."""
    moved = SimpleNamespace(now=1000.0)
    monkeypatch.setattr("app.core.web.rate_limits.monotonic", lambda: moved.now)
    return moved


@pytest.fixture
def silent():
    """Yield a server that accepts connections and sends nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


@pytest.fixture
def moving(app, silent):
    """Yield a Redis client of the silent server. The function `back` connects the client to the test Redis."""
    client = connect(f"redis://127.0.0.1:{silent.getsockname()[1]}/0", **WEB)
    yield client
    client.connection_pool.disconnect()


def back(client, app):
    pool = client.connection_pool
    pool.disconnect()
    pool.connection_kwargs.update(app.extensions["redis"].connection_pool.connection_kwargs)
    pool.reset()


def connections(server):
    """Return the number of new connections to `server` since the last call."""
    count = 0
    while True:
        try:
            server.accept()[0].close()
        except BlockingIOError:
            return count
        count += 1


def test_the_redis_key_of_a_limit_keeps_its_format(app, client, limited):
    assert client.post("/refresh", REFRESH).status_code == 401
    assert app.extensions["redis"].keys("LIMITS:*") == [REFRESH_KEY.encode()]


def test_retry_after_is_the_remaining_time_of_the_window(app, client, limited):
    first = time.time() - 50
    app.extensions["redis"].lpush(REFRESH_KEY, *[first] * 120)
    refused = client.post("/refresh", REFRESH)
    assert_error(refused, 429, "too_many_requests")
    assert first + 60 - time.time() - 1 <= int(refused.headers["Retry-After"]) <= 10
    assert refused.json["message"] == (
        f"Terlalu banyak permintaan. Coba lagi dalam {refused.headers['Retry-After']} detik."
    )


def test_a_call_refused_by_one_limit_is_not_counted_by_another_limit(app, client, limited):
    for n in range(21):
        client.post("/push/send", {"user_id": 1, "payload": {"title": "Halo", "body": str(n)}})
    by_address = "LIMITS:LIMITER/limit/127.0.0.1/push.send/60/1/minute"
    assert app.extensions["redis"].llen(by_address) == 20


@pytest.mark.parametrize("is_away", [False, True])
def test_successful_calls_are_not_counted_by_a_limit_of_failures(app, limited, monkeypatch, is_away):
    if is_away:
        monkeypatch.setattr(app.extensions["limits"], "_away_until", inf)

    @limit("2 per minute; 3 per hour", key=lambda: "siti", counts=NotFound, counter="look")
    def look(*, well):
        if not well:
            raise NotFound

    with app.test_request_context("/"):
        for well in (True, True, True, False, True, False):
            with suppress(NotFound):
                look(well=well)
        for _ in range(3):  # the limit per minute refuses these calls, so they do not count for the limit per hour
            with pytest.raises(TooManyRequests):
                look(well=True)
        app.extensions["limits"].hit(parse("3 per hour"), "limit", "siti", "look")
        with pytest.raises(TooManyRequests):
            app.extensions["limits"].hit(parse("3 per hour"), "limit", "siti", "look")


def test_the_process_counts_calls_while_redis_is_unavailable(app, moving, clock):
    limits = RateLimits(moving, enabled=True)
    limits.hit(TWICE, "a")
    limits.hit(TWICE, "a")
    with pytest.raises(TooManyRequests) as refused:
        limits.hit(TWICE, "a")
    assert refused.value.retry_after in (59, 60)
    limits.hit(TWICE, "b")


def test_an_unavailable_redis_is_tried_once_in_a_pause(moving, silent, clock):
    limits = RateLimits(moving, enabled=True)
    for n in range(20):
        limits.hit(TWICE, str(n))
    assert connections(silent) == 1
    clock.now += AWAY_S
    for n in range(20, 40):
        limits.hit(TWICE, str(n))
    assert connections(silent) == 1


def test_a_login_tries_an_unresponsive_redis_at_most_once(app, client, moving, silent, clock, monkeypatch):
    """A failed login is counted three times, but may wait for Redis only once.

    Two limits count each login, and one of these limits counts a failed login a second time.
    """
    monkeypatch.setitem(app.extensions, "limits", RateLimits(moving, enabled=True))
    waits = []
    for _ in range(4):
        assert client.post("/login", {"username": "siti", "password": "salah-sandi"}).status_code == 401
        waits.append(connections(silent))
    assert waits == [1, 0, 0, 0]


def test_calls_are_counted_in_redis_again_after_the_pause(app, moving, clock):
    limits = RateLimits(moving, enabled=True)
    for n in range(3):
        limits.hit(TWICE, str(n))
    back(moving, app)
    limits.hit(TWICE, "too early")
    assert not app.extensions["redis"].keys("LIMITS:*")
    clock.now += AWAY_S
    limits.hit(TWICE, "a")
    limits.hit(TWICE, "a")
    assert app.extensions["redis"].llen(f"LIMITS:{TWICE.key_for('a')}") == 2


def test_two_applications_in_one_process_count_separately(app, client, limited):
    config = {"REDIS_URL": "redis://127.0.0.1:1/0", "DATABASE_URL": app.config["SQLALCHEMY_DATABASE_URI"]}
    other = create_app(config_for_tests(**config, RATE_LIMITS="on"))
    codes = [other.test_client().post("/api/auth/check-username", json={}).status_code for _ in range(61)]
    assert codes == [400] * 60 + [429]
    assert client.post("/auth/check-username", {}).status_code == 400
    assert len(app.extensions["redis"].keys("LIMITS:*")) == 1


def test_without_rate_limits_nothing_is_counted(app, client):
    assert [client.post("/auth/check-username", {}).status_code for _ in range(61)] == [400] * 61
    assert not app.extensions["redis"].keys("LIMITS:*")


def test_a_request_that_is_retried_after_a_deadlock_counts_once(client, limited, monkeypatch):
    check, calls = accounts.check_username, count(1)

    def deadlocked_at_first(username):
        if next(calls) % 2:
            raise OperationalError("SELECT", {}, DeadlockDetected())
        return check(username)

    monkeypatch.setattr(accounts, "check_username", deadlocked_at_first)
    codes = [client.post("/auth/check-username", {"username": "siti"}).status_code for _ in range(61)]
    assert codes == [200] * 60 + [429]
