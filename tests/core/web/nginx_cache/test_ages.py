"""Lifetime of cached responses in nginx, and their use while the service fails."""

import time
from concurrent.futures import ThreadPoolExecutor
from email.utils import parsedate_to_datetime

import pytest
import requests

from dev.stack.waiting import PATIENCE_S, wait_until

pytestmark = [pytest.mark.takes(seconds=40), pytest.mark.processes]


def age_s(response):
    """Return the age of a cached response in whole seconds, from its Date header. nginx also uses whole seconds."""
    return int(time.time()) - parsedate_to_datetime(response.headers["Date"]).timestamp()


def grow_old(response, seconds):
    """Wait until a cached response is older than this number of seconds."""
    wait_until(lambda: age_s(response) > seconds)


def lasting(max_age, *, while_fetching=0, if_error=0):
    line = f"public, max-age={max_age}, stale-while-revalidate={while_fetching}, stale-if-error={if_error}"
    return {"Cache-Control": line}


def test_a_response_expired_beyond_stale_while_revalidate_is_not_returned(edge, thread):
    edge.service.headers = lasting(1, while_fetching=1, if_error=1000)
    old = edge.get(thread)
    grow_old(old, 3)
    fresh = edge.get(thread)
    assert (fresh.text, fresh.headers["Cache-Status"]) == (f"answer 2 to /api{thread}", "nginx; fwd=stale")


def test_during_a_refresh_one_client_waits_and_others_get_the_stale_response(edge, thread):
    edge.service.headers = lasting(1, while_fetching=1)
    old = edge.get(thread)
    grow_old(old, 3)
    edge.service.answers.clear()

    def read():
        return requests.get(edge.url + thread, verify=str(edge.certificate), timeout=PATIENCE_S)

    with ThreadPoolExecutor(1) as readers:
        waiting = readers.submit(read)
        wait_until(lambda: len(edge.service.asked) == 2)
        for _ in range(3):
            stale = read()
            assert (stale.text, stale.headers["Cache-Status"]) == (old.text, "nginx; hit; detail=stale")
        edge.service.answers.set()
        assert waiting.result(PATIENCE_S).text == f"answer 2 to /api{thread}"
    assert edge.get(thread).text == f"answer 2 to /api{thread}"


def test_concurrent_reads_reach_the_service_at_most_once_per_second(edge, thread):
    edge.service.headers = lasting(1, while_fetching=1)
    started = time.monotonic()

    def read(_):
        with requests.Session() as session:
            session.trust_env, session.verify = False, str(edge.certificate)
            return sum(session.get(edge.url + thread, timeout=PATIENCE_S).status_code != 200 for _ in range(30))

    with ThreadPoolExecutor(32) as readers:
        assert sum(readers.map(read, range(32))) == 0
    # nginx sends the service one request at the start, and then at most one per second.
    assert len(edge.service.asked) <= time.monotonic() - started + 2


def test_nginx_returns_the_stale_response_while_the_service_returns_5xx(edge, thread):
    edge.service.headers = lasting(1)
    old = edge.get(thread)
    grow_old(old, 3)
    for status in (500, 502, 503, 504):
        edge.service.status, edge.service.headers = status, {"Cache-Control": "no-store"}
        for _ in range(2):
            stale = edge.get(thread)
            assert (stale.status_code, stale.text) == (200, old.text)
            assert stale.headers["Cache-Status"] == "nginx; hit; detail=stale", status
            assert stale.headers["Date"] == old.headers["Date"]
        assert edge.call("HEAD", thread).status_code == 200
    edge.service.status, edge.service.headers = 200, lasting(1)
    assert edge.get(thread).text != old.text


def test_nginx_passes_on_errors_of_the_service_and_does_not_cache_them(edge, thread):
    for status in (400, 401, 404, 405, 429, 500, 502, 503, 504):
        edge.service.status = status
        edge.service.headers = {"Cache-Control": "no-store", "Retry-After": "37"}
        first, second = edge.get(thread), edge.get(thread)
        assert (first.status_code, first.headers["Retry-After"]) == (status, "37")
        assert first.text != second.text, status
    edge.service.status, edge.service.headers = 200, lasting(1000)
    assert edge.get(thread).status_code == 200


def test_nginx_returns_a_401_404_or_429_instead_of_an_expired_response(edge, thread):
    edge.service.headers = lasting(1, while_fetching=1, if_error=1000)
    grow_old(edge.get(thread), 3)
    for status in (401, 404, 429):
        edge.service.status, edge.service.headers = status, {"Cache-Control": "no-store"}
        assert [edge.get(thread).status_code for _ in range(2)] == [status, status]


def test_without_the_service_a_cached_response_is_used_and_others_are_503(edge, thread):
    edge.service.headers = lasting(1, while_fetching=1, if_error=1000)
    old = edge.get(thread)
    grow_old(old, 3)
    with edge.without_service():
        assert [edge.get(thread).text for _ in range(2)] == [old.text, old.text]
        for response in (
            edge.get(f"{thread}?page=2"),
            edge.get(thread, Authorization="Bearer x"),
            edge.call("POST", thread, data=b"{}"),
        ):
            assert (response.status_code, response.json()["error"]) == (503, "service_unavailable")
            assert (response.headers["Retry-After"], response.headers["Cache-Control"]) == ("5", "no-store")


def test_a_large_response_is_cached_completely(edge, thread):
    edge.service.body = bytes(range(256)) * 8000
    assert [edge.get(thread).content == edge.service.body for _ in range(2)] == [True, True]
    assert len(edge.service.asked) == 1
