"""HTTP client: retries, and limits for a provider that fails."""

import os
import threading

import pytest
from prometheus_client import REGISTRY

from app.providers.http import init_app
from app.providers.responses import retry_after
from dev.stack.waiting import wait_until
from tests.providers.calls import OK, client, failure
from tests.providers.raw_server import raw

# --- attempts -----------------------------------------------------------------------------------------------


pytestmark = pytest.mark.usefixtures("attempt_waits")


def refused_then_ok(status, header=b""):
    refusal = f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n".encode() + header + b"\r\n"
    return [refusal, OK]


def test_a_get_request_is_retried_and_a_post_request_that_may_have_arrived_is_not(subtests):
    for answers in (refused_then_ok(429), refused_then_ok(503), [b"", OK], [b"HTTP/1.1 garbage", OK]):
        with subtests.test(repr(answers[0])), raw(*answers) as read, raw(*answers) as written:
            assert client(attempts=2).fetch("GET", read.url).json() == {"ok": True}
            assert len(read.requests) == 2
            failure(client(attempts=3), written.url, "POST", data={"a": "b"})
            assert len(written.requests) == 1


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


def test_the_waits_between_attempts_double_and_end_before_the_time_budget(sim, attempt_waits):
    sim.fault("videos", "status", times=None)
    failure(client(attempts=100, budget_s=100), f"{sim.videos.url}/videos")
    assert sum(attempt_waits) < 100
    assert 8 <= len(attempt_waits) <= 10
    assert all(0.5 <= wait / (0.2 * 2**number) <= 1.5 for number, wait in enumerate(attempt_waits)), attempt_waits
    assert len(sim.videos.calls) == len(attempt_waits) + 1


def test_retry_after_is_obeyed_within_the_budget_and_reported_otherwise(attempt_waits):
    with raw(*refused_then_ok(429, b"Retry-After: 9\r\n")) as server:
        assert client(attempts=2).fetch("GET", server.url).json() == {"ok": True}
    assert attempt_waits == [9]
    with raw(*refused_then_ok(429, b"Retry-After: 60\r\n")) as server:
        assert failure(client(attempts=2, budget_s=30), server.url).retry_after == 60
        assert len(server.requests) == 1


def test_retry_after_is_parsed_as_a_number_or_a_date():
    texts = {None: None, "": None, "5": 5, "soon": None, "-1": None, "9" * 30: None, "Sat, 21 Nov 2015 10:00:00 GMT": 0}
    assert {text: retry_after(text) for text in texts} == texts


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
