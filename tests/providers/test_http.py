"""HTTP client: responses, limits, and faults. Each fault becomes a `ProviderError` within the time budget."""

import gzip
import logging
import traceback
import tracemalloc

import pytest

from tests.providers.calls import OK, client, failure, ok
from tests.providers.patience import patience_with
from tests.providers.raw_server import raw

# --- responses ----------------------------------------------------------------------------------------------


def test_request_bodies_and_headers_are_sent_as_given(sim):
    http = client(headers={"X-Always": "1"})
    http.fetch("POST", f"{sim.captcha.url}/siteverify", data={"a": "b c"}, headers={"X-Once": "2"})
    call = sim.captcha.calls[0]
    assert (call.body, call.headers["x-always"], call.headers["x-once"]) == ("a=b+c", "1", "2")
    assert call.headers["user-agent"] == "health-support/1.0"
    assert "cookie" not in call.headers


def test_cookies_are_not_kept():
    with raw(OK.replace(b"\r\n\r\n", b"\r\nSet-Cookie: a=b\r\nConnection: close\r\n\r\n")) as server:
        http = client()
        for _ in range(2):
            http.fetch("GET", server.url)
        assert not any(b"ookie" in request for request in server.requests)


def test_nul_characters_are_removed_from_json():
    texts = {rb"x\u0000\u0000y\u0000": "xy", rb"x\\u0000": "x\\u0000", rb"x\\\u0000y": "x\\y"}
    with raw(*(ok(b'{"a": "%b"}' % text) for text in texts)) as server:
        assert [client().fetch("GET", server.url).json()["a"] for _ in texts] == list(texts.values())


def test_proxy_variables_of_the_environment_are_ignored(monkeypatch, sim):
    monkeypatch.setenv("http_proxy", sim.closed_url)
    monkeypatch.setenv("HTTP_PROXY", sim.closed_url)
    with raw(OK) as server:
        assert client().fetch("GET", server.url).json() == {"ok": True}
        assert b"uthorization" not in server.requests[0]


# --- faults -------------------------------------------------------------------------------------------------

#: For each fault: kind of the error, whether it is permanent, and whether the outcome of a write is unknown. An
#: unreadable response leaves the outcome unknown. An error status does not.
FAULTS = {
    "down": ("broken", False, True),
    "drop": ("broken", False, True),
    "hang": ("timeout", False, True),
    "slow": ("timeout", False, True),
    "not_http": ("broken", False, True),
    "garbage": ("garbage", False, True),
    "wrong_type": ("garbage", False, True),
    "oversize": ("oversized", True, True),
    "redirect": ("redirect", True, False),
}


def test_every_fault_raises_a_provider_error_of_its_kind(sim, subtests):
    """The simulator keeps a hanging call open for a minute. The client must end the call earlier."""
    for fault, expected in FAULTS.items():
        with subtests.test(fault):
            sim.fault("captcha", fault)
            error = failure(client(**patience_with(fault)), f"{sim.captcha.url}/siteverify", "POST", data={})
            assert (error.kind, error.permanent, error.outcome_unknown) == expected
            assert error.timed_out is (error.kind == "timeout")


def test_an_error_status_is_classified_as_permanent_or_temporary(sim, subtests):
    for status in (400, 401, 403, 404, 413, 406, 408, 429, 500, 503):
        with subtests.test(str(status)):
            sim.fault("captcha", "status", status=status, retry_after=7)
            error = failure(client(), f"{sim.captcha.url}/siteverify", "POST", data={})
            assert (error.kind, error.status, error.retry_after) == ("status", status, 7)
            assert error.permanent is (status in (400, 401, 403, 404, 413))
            assert not error.outcome_unknown
            assert error.response.body == b"upstream error"


def test_a_closed_port_and_an_unknown_host_are_unreachable(sim):
    for url in (sim.closed_url, "http://nobody.invalid/"):
        error = failure(client(), url, "POST", data={})
        assert (error.kind, error.outcome_unknown) == ("unreachable", False), url


def test_an_invalid_url_is_refused_or_unreachable():
    for url in ("http://", "ftp://example.org/x", "http://[::1", "nonsense", "http://a b/", "http://" + "a" * 300):
        error = failure(client(), url)
        assert (error.kind, error.permanent) in {("refused", True), ("unreachable", False)}, url


def test_an_error_status_with_an_oversized_body_is_still_a_status_error():
    body = b"x" * 5000
    head = f"HTTP/1.1 503 Busy\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with raw(head + body) as server:
        error = failure(client(max_bytes=1000), server.url, "POST", data={})
    assert (error.kind, error.status, error.outcome_unknown) == ("status", 503, False)


def test_json_that_is_not_an_object_is_garbage(subtests):
    for body in (b"[1, 2]", b'"text"', b"null", b"", b'{"a": NaN}', b"{'a': 1}", b'{"a":' * 3000, b"\xff\xfe"):
        with subtests.test(repr(body[:10])), raw(ok(body)) as server:
            assert failure(client(), server.url).kind == "garbage"


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",  # a body without a length
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nfffff\r\n",
    ],
)
def test_a_slowly_sent_body_ends_with_a_timeout(answer):
    with raw(answer + b"a" * 100_000, drip_s=0.002) as server:  # the whole response would take three minutes
        assert failure(client(budget_s=0.3), server.url).kind == "timeout"


def test_a_gzip_bomb_is_refused_as_oversized():
    bomb = gzip.compress(bytes(50_000_000))
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(bomb)}\r\n\r\n".encode()
    with raw(head + bomb) as server:
        tracemalloc.start()
        try:
            error = failure(client(max_bytes=1_000_000), server.url)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert error.kind == "oversized"
    assert peak < 20_000_000


def test_a_response_of_exactly_the_size_limit_is_accepted(sim):
    with raw(OK) as server:
        assert client(max_bytes=11).fetch("GET", server.url).body == b'{"ok":true}'
        assert failure(client(max_bytes=10), server.url).kind == "oversized"


# --- keys, logs and outcomes --------------------------------------------------------------------------------


def test_secrets_of_a_request_are_not_in_logs_or_tracebacks(sim, caplog, subtests):
    caplog.set_level(logging.DEBUG)
    logging.getLogger("urllib3").setLevel(logging.ERROR)
    parts = {"params": {"key": "secret-2"}, "headers": {"A": "secret-3"}}
    sim.fault("videos", "down", times=2)
    for case, url in {"down": sim.videos.url, "status": sim.videos.url, "closed": sim.closed_url}.items():
        with subtests.test(case):
            if case == "status":
                sim.fault("videos", "status", times=2)
            caplog.clear()
            error = failure(client(attempts=2), f"{url}/videos?token=secret-1", **parts)
            assert "secret" not in caplog.text + "".join(traceback.format_exception(error)) + repr(error)
            assert "test" in caplog.text
            assert error.__context__ is None
