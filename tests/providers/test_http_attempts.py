"""HTTP client: retries, redirects, and limits for a provider that fails."""

import os
import threading
import time

import pytest
from prometheus_client import REGISTRY

from app.providers.http import init_app
from app.providers.responses import retry_after
from dev.stack.waiting import wait_until
from tests.providers.calls import OK, client, failure
from tests.providers.raw_server import raw

# --- attempts -----------------------------------------------------------------------------------------------


def refused_then_ok(status, header=b""):
    refusal = f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n".encode() + header + b"\r\n"
    return [refusal, OK]


@pytest.mark.parametrize("answers", [refused_then_ok(429), refused_then_ok(503), [b"", OK], [b"HTTP/1.1 garbage", OK]])
def test_a_failed_get_request_is_retried(answers):
    with raw(*answers) as server:
        assert client(attempts=2).fetch("GET", server.url).json() == {"ok": True}
        assert len(server.requests) == 2


@pytest.mark.parametrize("answers", [refused_then_ok(429), refused_then_ok(503), [b"", OK], [b"HTTP/1.1 garbage", OK]])
def test_a_post_request_that_may_have_arrived_is_not_retried(answers):
    with raw(*answers) as server:
        failure(client(attempts=3), server.url, "POST", data={"a": "b"})
        assert len(server.requests) == 1


def test_a_post_request_is_retried_when_the_connection_fails(app, sim):
    def unreachable():
        labels = {"provider": "test", "outcome": "unreachable"}
        return REGISTRY.get_sample_value("provider_call_seconds_count", labels) or 0

    before = unreachable()
    with app.test_request_context():
        error = failure(client(attempts=3), sim.closed_url, "POST", data={"a": "b"})
    assert error.kind == "unreachable"
    assert unreachable() - before == 3


def test_a_permanent_error_is_not_retried():
    with raw(*refused_then_ok(404)) as server:
        failure(client(attempts=3), server.url)
        assert len(server.requests) == 1


def test_retries_stop_when_the_time_budget_is_used_up(sim):
    sim.fault("videos", "status", times=None)
    failure(client(attempts=100, budget_s=0.8), f"{sim.videos.url}/videos")
    # The waits between attempts are at least 0.1, 0.2, 0.4 and 0.8 s. The fourth wait would exceed the budget.
    assert 1 <= len(sim.videos.calls) <= 4


def test_retry_after_is_obeyed_within_the_budget_and_reported_otherwise():
    with raw(*refused_then_ok(429, b"Retry-After: 1\r\n")) as server:
        started = time.monotonic()
        assert client(attempts=2).fetch("GET", server.url).json() == {"ok": True}
        assert time.monotonic() - started >= 1
    with raw(*refused_then_ok(429, b"Retry-After: 60\r\n")) as server:
        assert failure(client(attempts=2, budget_s=30), server.url).retry_after == 60
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, None),
        ("", None),
        ("5", 5),
        ("soon", None),
        ("-1", None),
        ("9" * 30, None),
        ("Sat, 21 Nov 2015 10:00:00 GMT", 0),
    ],
)
def test_retry_after_is_parsed_as_a_number_or_a_date(text, seconds):
    assert retry_after(text) == seconds


# --- redirects ----------------------------------------------------------------------------------------------


def moved(location):
    return f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()


def test_a_redirect_is_not_followed():
    with raw(OK) as target, raw(moved(f"{target.url}/page")) as server:
        for method in ("GET", "POST"):
            assert failure(client(attempts=3), server.url, method).kind == "redirect"
        assert not target.requests
        assert len(server.requests) == 2


# --- parallel calls -----------------------------------------------------------------------------------------


def test_calls_over_the_parallel_limit_are_refused_as_busy(sim):
    sim.fault("videos", "hang", times=None)
    http = client(parallel=2)
    kinds = []

    def call():
        kinds.append(failure(http, f"{sim.videos.url}/videos").kind)

    hanging = [threading.Thread(target=call) for _ in range(2)]
    for thread in hanging:
        thread.start()
    wait_until(lambda: len(sim.videos.calls) == 2)
    for _ in range(4):
        call()
    assert kinds == ["busy"] * 4  # calls are refused while two other calls hang
    sim.clear_faults()
    for thread in hanging:
        thread.join()
    assert kinds[4:] == ["broken"] * 2


def test_a_forked_process_gets_a_new_http_session(sim):
    init_app()  # in production, `create_app` calls this function
    http = client()
    http.fetch("POST", f"{sim.captcha.url}/siteverify", data={})
    before = http._session
    child = os.fork()
    if child == 0:
        os._exit(0 if http._session is not before else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert http._session is before
